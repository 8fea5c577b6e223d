// One exchange of a worker with the queue: what it has computed goes up, what
// it holds stays its own, and what it is to search comes down.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "src/queue/queue_schema.h"
#include "src/queue/work_queue.h"

namespace espalier {
namespace {

// Workers that end one after another on a search without having got any further
// with it: something about the search ends them.
constexpr int64_t kMostStalls = 10;
// More of them, and a worker holds no other search beside it.
constexpr int64_t kSuspect = 2;

// As a parameter that is cast: $1::bigint[].
PgValue Numbers(const std::vector<int64_t>& numbers) {
  return PgValue::Text(absl::StrCat("{", absl::StrJoin(numbers, ","), "}"));
}

PgValue BytesOrNull(const std::string& bytes) {
  return bytes.empty() ? PgValue::Null() : PgValue::Bytes(bytes);
}

class Transaction {
 public:
  Transaction(Postgres& db, const QueueExchange& exchange)
      : db_(db), exchange_(exchange) {}

  absl::StatusOr<QueueReply> Run() {
    ESP_RETURN_IF_ERROR(Renew());
    ESP_RETURN_IF_ERROR(Write());
    if (exchange_.leave) ESP_RETURN_IF_ERROR(Leave());
    if (exchange_.renew || exchange_.count) ESP_RETURN_IF_ERROR(Count());
    if (exchange_.want > 0) {
      ESP_RETURN_IF_ERROR(Claim());
      if (reply_.claimed.empty() && !reply_.counted) {
        ESP_RETURN_IF_ERROR(Count());
      }
    }
    return std::move(reply_);
  }

 private:
  PgValue run() const { return PgValue::Int(exchange_.run); }

  absl::Status Renew() {
    if (!exchange_.renew) return absl::OkStatus();
    std::vector<int64_t> claims;
    std::vector<int64_t> searches;
    for (const HeldSearch& held : exchange_.held) {
      claims.push_back(held.claim);
      searches.push_back(held.search);
    }
    ESP_ASSIGN_OR_RETURN(
        const PgRows rows,
        db_.Run("UPDATE espalier.searches SET lease_until = clock_timestamp() "
                "+ $4 * interval '1 second' WHERE run_id=$1 AND search_no = "
                "ANY($2::bigint[]) AND claim = ANY($3::bigint[]) AND "
                "state='running' RETURNING claim",
                {run(), Numbers(searches), Numbers(claims),
                 PgValue::Real(exchange_.lease)}));
    std::set<int64_t> ours;
    for (int r = 0; r < rows.size(); ++r) ours.insert(rows.Int(r, 0));
    // One whose end is being sent may have ended already.
    for (const QueueWrite* write : exchange_.writes) {
      if (write->finished) ours.insert(write->claim);
    }
    for (const int64_t claim : claims) {
      if (!ours.contains(claim)) lost_.insert(claim);
    }
    return absl::OkStatus();
  }

  // Of the searches that are written to: which are still this worker's.
  absl::Status LockWritten(std::set<int64_t>& running) {
    std::vector<int64_t> claims;
    std::vector<int64_t> searches;
    for (const QueueWrite* write : exchange_.writes) {
      claims.push_back(write->claim);
      searches.push_back(write->search);
    }
    ESP_ASSIGN_OR_RETURN(
        const PgRows rows,
        db_.Run("SELECT claim, state='running' FROM espalier.searches WHERE "
                "run_id=$1 AND search_no = ANY($2::bigint[]) AND claim = "
                "ANY($3::bigint[]) ORDER BY search_no FOR UPDATE",
                {run(), Numbers(searches), Numbers(claims)}));
    std::set<int64_t> ours;
    for (int r = 0; r < rows.size(); ++r) {
      ours.insert(rows.Int(r, 0));
      // Else an earlier try of this exchange was carried out after all.
      if (rows.Bool(r, 1)) running.insert(rows.Int(r, 0));
    }
    for (const int64_t claim : claims) {
      if (!ours.contains(claim)) lost_.insert(claim);
    }
    return absl::OkStatus();
  }

  absl::Status Write() {
    if (!exchange_.writes.empty()) {
      std::set<int64_t> running;
      ESP_RETURN_IF_ERROR(LockWritten(running));
      ESP_RETURN_IF_ERROR(AddResponses(running));
      for (const QueueWrite* write : exchange_.writes) {
        if (write->finished && running.contains(write->claim)) {
          ESP_RETURN_IF_ERROR(Finish(*write));
        }
      }
    }
    reply_.lost.assign(lost_.begin(), lost_.end());
    return absl::OkStatus();
  }

  absl::Status AddResponses(const std::set<int64_t>& running) {
    constexpr size_t kRows = 500;
    std::string rows;
    std::vector<PgValue> values;
    std::map<int64_t, int64_t> added;  // by search
    const auto send = [&]() -> absl::Status {
      if (rows.empty()) return absl::OkStatus();
      ESP_RETURN_IF_ERROR(
          db_.Run(absl::StrCat("INSERT INTO espalier.responses VALUES ", rows,
                               " ON CONFLICT DO NOTHING"),
                  values)
              .status());
      rows.clear();
      values.clear();
      return absl::OkStatus();
    };
    for (const QueueWrite* write : exchange_.writes) {
      if (write->finished || !running.contains(write->claim)) continue;
      const size_t n = values.size();
      absl::StrAppend(&rows, n == 0 ? "" : ",", "($", n + 1, ",$", n + 2, ",$",
                      n + 3, ",$", n + 4, ")");
      values.push_back(run());
      values.push_back(PgValue::Int(write->search));
      values.push_back(PgValue::Int(static_cast<int64_t>(write->number)));
      values.push_back(PgValue::Bytes(write->entry));
      ++added[write->search];
      if (values.size() >= 4 * kRows) ESP_RETURN_IF_ERROR(send());
    }
    ESP_RETURN_IF_ERROR(send());
    if (added.empty()) return absl::OkStatus();
    std::vector<int64_t> searches;
    std::vector<int64_t> counts;
    for (const auto& [search, count] : added) {
      searches.push_back(search);
      counts.push_back(count);
    }
    return db_
        .Run(
            "UPDATE espalier.searches s SET responses = s.responses + v.n "
            "FROM unnest($2::bigint[], $3::bigint[]) v(search_no, n) WHERE "
            "s.run_id=$1 AND s.search_no=v.search_no",
            {run(), Numbers(searches), Numbers(counts)})
        .status();
  }

  absl::Status Finish(const QueueWrite& write) {
    const FinishedSearch& end = *write.finished;
    const bool failed = end.state == SearchState::kFailed;
    ESP_RETURN_IF_ERROR(
        db_.Run(absl::StrCat(
                    "UPDATE espalier.searches SET state=$3, finished_at="
                    "clock_timestamp(), lease_until=NULL, answer=$4, "
                    "correct=$5, score=$6, stop_reason=$7, error=$8, stage=$9, "
                    "tokens=$10, prompt_tokens=$11, reward_tokens=$12, "
                    "verdict_tokens=$13, model_calls=$14, simulations=$15, "
                    "nodes=$16, seconds=$17, tree=$18, log=$19, digest=",
                    DigestSql("$18", "$19"),
                    " WHERE run_id=$1 AND search_no=$2"),
                {run(), PgValue::Int(write.search),
                 PgValue::Text(SearchStateName(end.state)),
                 BytesOrNull(end.answer),
                 end.correct ? PgValue::Bool(*end.correct) : PgValue::Null(),
                 PgValue::Real(end.score), PgValue::Bytes(end.stop_reason),
                 failed ? PgValue::Bytes(end.error) : PgValue::Null(),
                 PgValue::Bytes(end.stage), PgValue::Int(end.tokens),
                 PgValue::Int(end.prompt_tokens),
                 PgValue::Int(end.reward_tokens),
                 PgValue::Int(end.verdict_tokens),
                 PgValue::Int(end.model_calls), PgValue::Int(end.simulations),
                 PgValue::Int(end.nodes), PgValue::Real(end.seconds),
                 BytesOrNull(end.tree), BytesOrNull(end.log)})
            .status());
    for (size_t i = 0; i < end.solutions.size(); ++i) {
      const Solution& solution = end.solutions[i];
      ESP_RETURN_IF_ERROR(
          db_.Run("INSERT INTO espalier.solutions VALUES ($1,$2,$3,$4,$5,$6)",
                  {run(), PgValue::Int(write.search),
                   PgValue::Int(static_cast<int64_t>(i)),
                   PgValue::Bytes(solution.response),
                   PgValue::Real(solution.logprob),
                   PgValue::Int(solution.tokens)})
              .status());
    }
    ESP_RETURN_IF_ERROR(db_.Run("DELETE FROM espalier.responses WHERE "
                                "run_id=$1 AND search_no=$2",
                                {run(), PgValue::Int(write.search)})
                            .status());
    ESP_RETURN_IF_ERROR(
        db_.Run("UPDATE espalier.workers SET done = done + 1, tokens = tokens "
                "+ $2, seen_at=clock_timestamp() WHERE worker_id=$1",
                {PgValue::Int(exchange_.worker), PgValue::Int(end.tokens)})
            .status());
    return absl::OkStatus();
  }

  absl::Status Leave() {
    std::vector<int64_t> claims;
    std::vector<int64_t> searches;
    for (const HeldSearch& held : exchange_.held) {
      claims.push_back(held.claim);
      searches.push_back(held.search);
    }
    ESP_RETURN_IF_ERROR(
        db_.Run("UPDATE espalier.searches SET state='waiting', "
                "lease_until=NULL, stalls=CASE WHEN NOT $4 THEN 0 WHEN "
                "responses=responses_at_claim THEN stalls+1 ELSE 1 END WHERE "
                "run_id=$1 AND search_no = ANY($2::bigint[]) AND claim = "
                "ANY($3::bigint[]) AND state='running'",
                {run(), Numbers(searches), Numbers(claims),
                 PgValue::Bool(exchange_.blame)})
            .status());
    ESP_RETURN_IF_ERROR(FinishRun());
    return db_
        .Run(
            "UPDATE espalier.workers SET seen_at=clock_timestamp(), "
            "ended_at=clock_timestamp() WHERE worker_id=$1",
            {PgValue::Int(exchange_.worker)})
        .status();
  }

  absl::Status FinishRun() {
    return db_
        .Run(
            "UPDATE espalier.runs r SET finished_at=clock_timestamp() WHERE "
            "run_id=$1 AND finished_at IS NULL AND NOT EXISTS (SELECT 1 FROM "
            "espalier.searches s WHERE s.run_id=$1 AND state IN ('waiting', "
            "'running'))",
            {run()})
        .status();
  }

  absl::Status Count() {
    ESP_ASSIGN_OR_RETURN(
        const PgRows seen,
        db_.Run("UPDATE espalier.workers SET seen_at=clock_timestamp() WHERE "
                "worker_id=$1 RETURNING worker_id",
                {PgValue::Int(exchange_.worker)}));
    if (seen.size() == 0) {
      return absl::NotFoundError(absl::StrCat(
          db_.name(), ": run ", exchange_.run, " was deleted from the queue"));
    }
    ESP_ASSIGN_OR_RETURN(
        const PgRows rows,
        db_.Run("SELECT (SELECT count(*) FROM espalier.searches WHERE "
                "run_id=$1 AND state IN ('waiting', 'running')), (SELECT "
                "count(*) FROM espalier.workers WHERE run_id=$1 AND ended_at "
                "IS NULL AND seen_at > clock_timestamp() - lease * interval "
                "'1 second')",
                {run()}));
    reply_.counted = true;
    reply_.left = rows.Int(0, 0);
    reply_.workers = std::max<int64_t>(1, rows.Int(0, 1));
    if (reply_.left == 0) return FinishRun();
    return absl::OkStatus();
  }

  absl::Status Claim() {
    ESP_RETURN_IF_ERROR(FailStalled());
    // All share what is left, so that no worker waits for another's.
    const int64_t left = reply_.counted ? reply_.left : exchange_.left;
    const int64_t workers = reply_.counted ? reply_.workers : exchange_.workers;
    const int64_t share = (left + workers - 1) / workers;
    const auto held = static_cast<int64_t>(exchange_.held.size());
    const int64_t want =
        std::min(exchange_.want, std::max<int64_t>(share - held, held == 0));
    if (want <= 0) return absl::OkStatus();
    ESP_RETURN_IF_ERROR(ClaimUpTo(want, kSuspect));
    // One that workers ended on is tried with no other beside it.
    if (reply_.claimed.empty() && held == 0) {
      ESP_RETURN_IF_ERROR(ClaimUpTo(1, kMostStalls));
    }
    std::sort(reply_.claimed.begin(), reply_.claimed.end(),
              [](const ClaimedSearch& a, const ClaimedSearch& b) {
                return a.search < b.search;
              });
    return absl::OkStatus();
  }

  absl::Status ClaimUpTo(int64_t want, int64_t most_stalls) {
    // Of one seed: those of the first search that is free.
    std::vector<PgValue> values = {
        run(), PgValue::Int(exchange_.worker), PgValue::Real(exchange_.lease),
        PgValue::Int(want), PgValue::Int(most_stalls)};
    constexpr char kFree[] =
        "run_id=$1 AND state IN ('waiting', 'running') AND (state='waiting' "
        "OR lease_until < clock_timestamp()) AND stalls <= $5";
    std::string seed =
        absl::StrCat("(SELECT seed FROM espalier.searches WHERE ", kFree,
                     " ORDER BY search_no LIMIT 1)");
    if (exchange_.seed) {
      seed = "$6";
      values.push_back(PgValue::Int(static_cast<int64_t>(*exchange_.seed)));
    }
    ESP_ASSIGN_OR_RETURN(
        const PgRows rows,
        db_.Run(absl::StrCat(
                    "WITH free AS (SELECT search_no FROM espalier.searches "
                    "WHERE ",
                    kFree, " AND seed=", seed,
                    " ORDER BY search_no LIMIT $4 FOR UPDATE SKIP LOCKED) "
                    "UPDATE espalier.searches s SET state='running', "
                    "worker_id=$2, claim=nextval('espalier.claims'), "
                    "lease_until=clock_timestamp() + $3 * interval '1 "
                    "second', claims=claims+1, "
                    "continued=continued+(responses>0)::int, stalls=CASE WHEN "
                    "responses<>responses_at_claim THEN 0 WHEN "
                    "state='running' THEN stalls+1 ELSE stalls END, "
                    "responses_at_claim=responses FROM free WHERE "
                    "s.run_id=$1 AND s.search_no=free.search_no RETURNING "
                    "claim, s.search_no, problem_no, seed, responses"),
                values));
    for (int r = 0; r < rows.size(); ++r) {
      ClaimedSearch& claimed = reply_.claimed.emplace_back();
      claimed.claim = rows.Int(r, 0);
      claimed.search = rows.Int(r, 1);
      claimed.problem = rows.Int(r, 2);
      claimed.seed = static_cast<uint64_t>(rows.Int(r, 3));
      if (rows.Int(r, 4) > 0) ESP_RETURN_IF_ERROR(ReadResponses(claimed));
    }
    return absl::OkStatus();
  }

  absl::Status ReadResponses(ClaimedSearch& claimed) {
    ESP_ASSIGN_OR_RETURN(
        const PgRows rows,
        db_.Run("SELECT entry FROM espalier.responses WHERE run_id=$1 AND "
                "search_no=$2 ORDER BY number",
                {run(), PgValue::Int(claimed.search)}));
    for (int r = 0; r < rows.size(); ++r) {
      claimed.responses.push_back(rows.Bytes(r, 0));
    }
    return absl::OkStatus();
  }

  absl::Status FailStalled() {
    return db_
        .Run(
            "WITH gone AS (UPDATE espalier.searches SET state='failed', "
            "finished_at=clock_timestamp(), lease_until=NULL, "
            "error=convert_to($2, 'UTF8'), tokens=0, prompt_tokens=0, "
            "reward_tokens=0, verdict_tokens=0, model_calls=0, "
            "simulations=0, nodes=0, seconds=0, score=0, stop_reason='', "
            "stage='' WHERE run_id=$1 AND (state='waiting' OR "
            "state='running' AND lease_until < clock_timestamp()) AND "
            "responses=responses_at_claim AND stalls >= $3 + "
            "(state='waiting')::int RETURNING search_no) DELETE FROM "
            "espalier.responses r USING gone WHERE r.run_id=$1 AND "
            "r.search_no=gone.search_no",
            {run(),
             PgValue::Text(absl::StrCat(
                 kMostStalls + 1,
                 " workers in turn ended while they held this search, and "
                 "none of them got any further with it")),
             PgValue::Int(kMostStalls)})
        .status();
  }

  Postgres& db_;
  const QueueExchange& exchange_;
  std::set<int64_t> lost_;
  QueueReply reply_;
};

}  // namespace

absl::StatusOr<QueueReply> WorkQueue::Exchange(const QueueExchange& exchange) {
  ESP_RETURN_IF_ERROR(db_->Script("BEGIN ISOLATION LEVEL READ COMMITTED"));
  absl::StatusOr<QueueReply> reply = Transaction(*db_, exchange).Run();
  if (!reply.ok()) {
    db_->Script("ROLLBACK").IgnoreError();
    return reply;
  }
  ESP_RETURN_IF_ERROR(db_->Script("COMMIT"));
  return reply;
}

}  // namespace espalier
