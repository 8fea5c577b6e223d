#include "src/trace/tree_nodes.h"

#include <sqlite3.h>

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace espalier {

namespace {

constexpr char kDeclaration[] =
    "CREATE TABLE x(node INTEGER, parent INTEGER, depth INTEGER, kind TEXT, "
    "text TEXT, tokens INTEGER, visits INTEGER, draws INTEGER, prior REAL, "
    "q REAL, logprob REAL, step_score REAL, path_score REAL, answer TEXT, "
    "verdict TEXT, terminal INTEGER, truncated INTEGER, proved INTEGER, "
    "twin INTEGER, outcome_score REAL, window2_score REAL, window3_score "
    "REAL, window4_score REAL, "
    "search_id INTEGER HIDDEN)";
enum Column {
  kNode,
  kParent,
  kDepth,
  kKind,
  kText,
  kTokens,
  kVisits,
  kDraws,
  kPrior,
  kQ,
  kLogprob,
  kStepScore,
  kPathScore,
  kAnswer,
  kVerdict,
  kTerminal,
  kTruncated,
  kProved,
  kTwin,
  kOutcomeScore,
  kWindow2Score,
  kWindow3Score,
  kWindow4Score,
  kSearchId,
};

// SQLite passes these as pointers to its base structs, which are the first
// member of each.
struct Table {
  sqlite3_vtab base{};
  RunDb* db = nullptr;
};
struct Cursor {
  sqlite3_vtab_cursor base{};
  int64_t search_id = 0;
  StoredTree tree;
  std::vector<int64_t> depth;
  size_t row = 0;
};

Cursor* Of(sqlite3_vtab_cursor* cursor) {
  return reinterpret_cast<Cursor*>(cursor);
}

int Connect(sqlite3* db, void* aux, int, const char* const*, sqlite3_vtab** out,
            char**) {
  const int code = sqlite3_declare_vtab(db, kDeclaration);
  if (code != SQLITE_OK) return code;
  auto* table = new Table;
  table->db = static_cast<RunDb*>(aux);
  *out = &table->base;
  return SQLITE_OK;
}

int Disconnect(sqlite3_vtab* table) {
  delete reinterpret_cast<Table*>(table);
  return SQLITE_OK;
}

// A tree can only be read by its search id.
int BestIndex(sqlite3_vtab* table, sqlite3_index_info* info) {
  for (int i = 0; i < info->nConstraint; ++i) {
    const auto& c = info->aConstraint[i];
    if (c.iColumn != kSearchId || c.op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
    if (!c.usable) return SQLITE_CONSTRAINT;
    info->aConstraintUsage[i].argvIndex = 1;
    info->aConstraintUsage[i].omit = 1;
    info->estimatedCost = 100;
    info->estimatedRows = 100;
    return SQLITE_OK;
  }
  sqlite3_free(table->zErrMsg);
  table->zErrMsg = sqlite3_mprintf(
      "tree_nodes needs a search: FROM tree_nodes(17), or FROM searches s "
      "JOIN tree_nodes(s.search_id)");
  return SQLITE_ERROR;
}

int Open(sqlite3_vtab*, sqlite3_vtab_cursor** out) {
  *out = &(new Cursor)->base;
  return SQLITE_OK;
}

int Close(sqlite3_vtab_cursor* cursor) {
  delete Of(cursor);
  return SQLITE_OK;
}

int Filter(sqlite3_vtab_cursor* base, int, const char*, int,
           sqlite3_value** values) {
  Cursor& cursor = *Of(base);
  cursor.row = 0;
  cursor.tree = {};
  cursor.depth.clear();
  cursor.search_id = sqlite3_value_int64(values[0]);
  const auto* table = reinterpret_cast<Table*>(base->pVtab);
  auto tree = table->db->LoadTree(cursor.search_id);
  if (absl::IsNotFound(tree.status())) return SQLITE_OK;  // no rows
  if (!tree.ok()) {
    sqlite3_free(base->pVtab->zErrMsg);
    base->pVtab->zErrMsg =
        sqlite3_mprintf("%s", std::string(tree.status().message()).c_str());
    return SQLITE_ERROR;
  }
  cursor.tree = *std::move(tree);
  for (const StoredNode& node : cursor.tree.nodes) {
    cursor.depth.push_back(
        node.parent < 0 ? 0
                        : cursor.depth[static_cast<size_t>(node.parent)] + 1);
  }
  return SQLITE_OK;
}

int Next(sqlite3_vtab_cursor* cursor) {
  ++Of(cursor)->row;
  return SQLITE_OK;
}

int Eof(sqlite3_vtab_cursor* cursor) {
  return Of(cursor)->row >= Of(cursor)->tree.nodes.size();
}

int RowId(sqlite3_vtab_cursor* cursor, sqlite3_int64* out) {
  *out = static_cast<sqlite3_int64>(Of(cursor)->row);
  return SQLITE_OK;
}

void ResultText(sqlite3_context* context, std::string_view text) {
  sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT,
                        SQLITE_UTF8);
}

// SQL has no NaN: it becomes NULL.
void ResultReal(sqlite3_context* context, float value) {
  sqlite3_result_double(context, static_cast<double>(value));
}

int ColumnValue(sqlite3_vtab_cursor* base, sqlite3_context* out, int column) {
  const Cursor& cursor = *Of(base);
  const StoredNode& node = cursor.tree.nodes[cursor.row];
  const auto integer = [&](int64_t value) {
    sqlite3_result_int64(out, value);
    return SQLITE_OK;
  };
  switch (column) {
    case kNode:
      return integer(static_cast<int64_t>(cursor.row));
    case kParent:
      if (node.parent >= 0) integer(node.parent);
      return SQLITE_OK;
    case kDepth:
      return integer(cursor.depth[cursor.row]);
    case kKind:
      ResultText(out, NodeKindName(node.kind));
      return SQLITE_OK;
    case kText:
      ResultText(out, cursor.tree.Text(cursor.row));
      return SQLITE_OK;
    case kTokens:
      return integer(node.num_tokens);
    case kVisits:
      return integer(node.visits);
    case kDraws:
      return integer(node.draws);
    case kPrior:
      ResultReal(out, node.prior);
      return SQLITE_OK;
    case kQ:
      ResultReal(out, node.q);
      return SQLITE_OK;
    case kLogprob:
      ResultReal(out, node.logprob);
      return SQLITE_OK;
    case kStepScore:
      ResultReal(out, node.step_score);
      return SQLITE_OK;
    case kPathScore:
      ResultReal(out, node.path_score);
      return SQLITE_OK;
    case kAnswer:
      if (node.answer >= 0) {
        ResultText(out, cursor.tree.answers[static_cast<size_t>(node.answer)]);
      }
      return SQLITE_OK;
    case kVerdict:
      if (node.verdict != NodeVerdict::kNotAsked) {
        ResultText(out,
                   node.verdict == NodeVerdict::kCorrect ? "correct" : "wrong");
      }
      return SQLITE_OK;
    case kTerminal:
      return integer(node.terminal());
    case kTruncated:
      return integer(node.truncated());
    case kProved:
      return integer(node.proved());
    case kTwin:
      if (node.original >= 0) integer(node.original);
      return SQLITE_OK;
    case kOutcomeScore:
      ResultReal(out, node.outcome_score);
      return SQLITE_OK;
    case kWindow2Score:
    case kWindow3Score:
    case kWindow4Score:
      ResultReal(out, node.window_scores[static_cast<size_t>(column) -
                                         static_cast<size_t>(kWindow2Score)]);
      return SQLITE_OK;
    case kSearchId:
      return integer(cursor.search_id);
    default:
      return SQLITE_OK;
  }
}

// No xCreate: the table exists in every connection without being created.
sqlite3_module Module() {
  sqlite3_module module{};
  module.xConnect = Connect;
  module.xDisconnect = Disconnect;
  module.xBestIndex = BestIndex;
  module.xOpen = Open;
  module.xClose = Close;
  module.xFilter = Filter;
  module.xNext = Next;
  module.xEof = Eof;
  module.xColumn = ColumnValue;
  module.xRowid = RowId;
  return module;
}

}  // namespace

absl::Status AddTreeNodes(RunDb& db) {
  static const sqlite3_module module = Module();
  const int code = sqlite3_create_module_v2(db.sqlite().handle(), "tree_nodes",
                                            &module, &db, nullptr);
  if (code == SQLITE_OK) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("sqlite: ", sqlite3_errstr(code)));
}

}  // namespace espalier
