// The forms of story sentences: those that the generator writes
// (story_sentences.h), and light paraphrases of them. known_questions.h
// recognizes a story by these forms; a sentence that matches none is
// unfamiliar.
//
// Patterns are as in word_pattern.h. Slots: $S the hero, by name or pronoun,
// omitted in a clause after another; $F a name; $o the story's things; $x a
// number; $w any word that means nothing to a story.
#ifndef ESPALIER_DATASETS_TASKS_STORY_FORMS_H_
#define ESPALIER_DATASETS_TASKS_STORY_FORMS_H_

#include <string_view>

#include "datasets/tasks/word_pattern.h"

namespace espalier {

enum class StoryForm {
  kLead,  // a polite word before or after the story
  kOpening,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kOther,  // its number changes nothing
  kQuestion,
};

inline constexpr NamedPattern kStoryWords[] = {
    // People, places and times.
    {"whose", "(his|her|their|the)"},
    {"kin",
     "(his|her|their|a|an|the) [older|younger|big|little|best|good|close|new] "
     "(friend|brother|sister|mother|father|mom|mum|dad|cousin|neighbour|"
     "neighbor|classmate|teacher|aunt|uncle|grandmother|grandfather|grandma|"
     "grandpa|roommate|colleague|girl|boy)"},
    {"agent", "($S|him|her|them)"},
    {"F", "(@kin [$F]|$F)"},
    {"adverb",
     "(also|again|just|even|happily|luckily|carefully|quickly|accidentally|"
     "sadly|proudly|kindly|unfortunately|fortunately|generously|gladly|"
     "suddenly|simply|then|now|next|later|afterwards|afterward|thereafter|"
     "soon|finally|eventually|subsequently|immediately|today|yesterday|"
     "meanwhile|later on|soon after|shortly after|after this|after that|"
     "after a while|following that|at that point|at this point|by now|"
     "(a|one) (moment|minute|hour|day|week|month|year|bit|little|while) later|"
     "(the|that|this|on the) (next|following|same|very|very same) "
     "(day|week|morning|afternoon|evening|month)|"
     "(that|this) (day|week|morning|afternoon|evening)|"
     "in the (morning|afternoon|evening)|as well|too|in turn|in the process|"
     "by accident|by mistake|along the way|"
     "on (monday|tuesday|wednesday|thursday|friday|saturday|sunday))"},
    {"where",
     "((at|in|on|near|under|by|during|along|behind|outside|inside|from|after|"
     "playing) [a|an|the|his|her|their|some|another] $w [$w])"},
    {"first",
     "(at first|initially|originally|first|to begin with|to start with|to start"
     "|in the beginning|at the beginning|at the start|at the outset|"
     "at the beginning of the (story|day)|from the start|in the first place|"
     "once|one day|suppose [that]|imagine [that]|assume [that]|say [that]|"
     "let us say [that]|consider this)"},
    {"now",
     "(now|currently|presently|at present|at the moment|left|left over|"
     "remaining|still|finally|eventually|ultimately|overall|at last|"
     "in the end|at the end|at the very end|at the end of the (story|day)|"
     "in total|in all|in sum|all in all|altogether|all together|by now|"
     "by the end|by the end of (it|it all|the day|the story)|"
     "at this point|at that point|by then|then|afterwards|afterward|"
     "after (all|all this|all that|all of this|all of that|all of these|this|"
     "that|everything|it all|these changes|those changes|the changes|"
     "all these changes|all the changes|all of these changes|these events)|"
     "when (all|everything) is (done|over|said and done)|today|"
     "at the conclusion|in the final count|when all is said and done)"},
    {"please",
     "([please] (tell|show) [me|us]|[please] (say|find|find out|calculate|"
     "compute|determine|work out|figure out|count|state|give|give me|report)|"
     "please|(can|could|would|will) you [please|kindly] (tell|show) [me|us]|"
     "(can|could|would|will) you [please|kindly] (say|find|find out|calculate|"
     "compute|determine|work out|figure out|count|give me)|"
     "(i|we) (want|need|would like|wish) to know|"
     "(i|we) (wonder|am wondering)|do you know|so|and|the question is|"
     "exactly|precisely|just)"},
    // Things and amounts.
    {"things",
     "($o|items|things|pieces|of them|of these|of those|of @whose $o|"
     "of (these|those) $o|of it)"},
    {"heap", "(pile|heap|stack|collection|hoard|stash|supply|set)"},
    {"pile", "[all of] (@whose|$S 's|this|that) @heap [of $o]"},
    {"all",
     "(them|it|them all|all of them|all [@whose|these|those] $o|@whose $o|"
     "(these|those) $o|all of (@whose|these|those) $o|@pile|everything|$o)"},
    {"gift",
     "([a total of|exactly|a further|an additional|an extra|some|another] $x "
     "[more|extra|additional|further|new|other] [@things] [more|extra])"},
    {"amount", "([a total of|exactly|another] $x [more] [@things])"},
    {"box",
     "(box|bag|basket|jar|drawer|case|tin|chest|container|crate|bowl|sack)"},
    {"onto",
     "to (@pile|those (he|she|they) (has|have|had)|those (he|she|they) already "
     "(has|have|had)|it|them)"},
    // Having.
    {"have",
     "[already] (has|have|had|has got|have got|own|owns|owned|possess|"
     "possesses|possessed|hold|holds|held|keep|keeps|kept)"},
    {"start",
     "(start|starts|started|begin|begins|began) [off|out] (with|by having|"
     "by owning|having|owning)"},
    // Getting and losing: said of the hero ...
    {"get",
     "[has|have] (find|finds|found|discover|discovers|discovered|locate|"
     "locates|located|unearth|unearths|unearthed|"
     "(come|comes|came) (across|upon)|(happen|happens|happened) upon|"
     "(stumble|stumbles|stumbled) (on|upon|across)|buy|buys|bought|purchase|"
     "purchases|purchased|acquire|acquires|acquired|obtain|obtains|obtained|"
     "get|gets|got|gotten|receive|receives|received|win|wins|won|earn|earns|"
     "earned|gain|gains|gained|(pick|picks|picked) up|collect|collects|"
     "collected|gather|gathers|gathered|add|adds|added|secure|secures|secured|"
     "(bring|brings|brought) home|(scoop|scoops|scooped) up|grab|grabs|grabbed|"
     "(dig|digs|dug) up|(is|was|are|were) (given|handed|gifted|awarded|passed|"
     "presented with))"},
    {"from", "[from|by|thanks to] @F"},
    {"lose",
     "[has|have] (lose|loses|lost|misplace|misplaces|misplaced|mislay|mislays|"
     "mislaid|sell|sells|sold|(sell|sells|sold|trade|trades|traded|give|gives|"
     "gave|given|barter|barters|bartered) (away|off)|"
     "(throw|throws|threw|thrown|toss|tosses|tossed|chuck|chucks|chucked) "
     "(away|out|aside)|discard|discards|discarded|dump|dumps|dumped|"
     "(get|gets|got) rid of|(dispose|disposes|disposed) of|drop|drops|dropped|"
     "spill|spills|spilled|spilt|break|breaks|broke|broken|damage|damages|"
     "damaged|smash|smashes|smashed|crack|cracks|cracked|shatter|shatters|"
     "shattered|ruin|ruins|ruined|destroy|destroys|destroyed|donate|donates|"
     "donated|(part|parts|parted) with|(tear|tears|tore|torn) up)"},
    {"give",
     "[has|have] (give|gives|gave|given|hand|hands|handed|(hand|hands|handed) "
     "(over|out)|pass|passes|passed|(pass|passes|passed) (on|over|along)|"
     "donate|donates|donated|gift|gifts|gifted|send|sends|sent|"
     "(give|gives|gave) away|sell|sells|sold|present|presents|presented|"
     "offer|offers|offered|transfer|transfers|transferred)"},
    // ... and of the things.
    {"got",
     "(found|discovered|located|bought|purchased|acquired|obtained|received|"
     "won|earned|gained|picked up|collected|gathered|added|secured|"
     "come across|scooped up)"},
    {"lost",
     "(lost|misplaced|mislaid|sold|sold off|traded away|given away|thrown away|"
     "thrown out|tossed out|tossed away|discarded|dumped|disposed of|dropped|"
     "spilled|spilt|broken|damaged|smashed|cracked|shattered|ruined|destroyed|"
     "donated)"},
    {"given",
     "(given|handed|handed over|passed|passed on|donated|gifted|sent)"},
    {"are", "(is|are|was|were|get|gets|got|have been|has been|had been)"},
    // Times and parts.
    {"k", "(twice|double|thrice|triple|$x times|$x times over)"},
    {"asmany",
     "(as many [@things] [as (before|earlier|previously|until then|"
     "(he|she|they) [previously|already] (has|have|had) "
     "[before|earlier|until then|previously])]|"
     "(the|that|this) (number|amount|quantity) [of $o] [@adverb]|that many|"
     "@whose (previous|old|earlier|former) (number|amount) [of $o]|"
     "what (he|she|they) (has|have|had) [before])"},
    {"groups",
     "[equal|even|identical|equally|evenly|same] [sized|large|big|size] "
     "(piles|heaps|stacks|bags|sacks|boxes|parts|portions|groups|shares|sets|"
     "bundles|pieces|lots|sections|mounds|bunches|batches|pouches|baskets|"
     "packs|packets|jars|halves|thirds)"},
    {"group",
     "(pile|heap|stack|bag|sack|box|part|portion|group|share|set|bundle|piece|"
     "lot|section|mound|bunch|batch|pouch|basket|pack|packet|jar)"},
    {"one",
     "[only|just|exactly] (one|1|a single one|a single @group|"
     "(one|1) [single] @group) [of (them|these|those|(the|these|those) "
     "@groups)]"
     " [for (herself|himself|themselves)]"},
    {"keep",
     "(keep|keeps|kept|keeping|retain|retains|retained|(hold|holds|held) "
     "(on to|onto)|save|saves|saved|is left with|are left with) @one"},
    {"and", "[and|but] [then] [of which]"},
};

struct StoryFormPattern {
  StoryForm form;
  std::string_view pattern;
};

inline constexpr StoryFormPattern kStoryForms[] = {
    {StoryForm::kLead,
     "(hi|hello|hey|good (morning|day|afternoon|evening)|dear (assistant|all|"
     "friend)) [there] [everyone|everybody]"},
    {StoryForm::kLead,
     "[please|kindly|can you|could you|would you|will you] [please|kindly|"
     "help me [to]|try to] (solve|answer|read|consider|help [me]|look at|"
     "work out|help me with|think about) [(this|the|a|my) [following|little|"
     "short|small|simple|next|quick] (story|question|problem|puzzle|task|"
     "exercise|one|riddle)|this|the following|me] [for me] [please]"},
    {StoryForm::kLead,
     "(here is|here 's|this is|i have|i 've got|now) (a|my|the|another|one) "
     "[little|short|small|simple|quick|following|next] (story|question|problem|"
     "puzzle|task|exercise|riddle) [for you] [to solve|to answer]"},
    {StoryForm::kLead,
     "(question|problem|story|task|exercise|riddle|q) [number] [$x]"},
    {StoryForm::kLead, "(please|kindly)"},
    {StoryForm::kLead,
     "[many] (thank you|thanks) [very much|a lot|in advance]"},
    {StoryForm::kLead,
     "(i|we) (need|want|would like|'d like) (help|your help|an answer) [with "
     "(this|a|the following) [story|question|problem|puzzle]] [please]"},

    {StoryForm::kOpening,
     "{@first} $S [@first] (@have|@start) $x $o {@first} [@where]"},
    {StoryForm::kOpening,
     "{@first} (a|the|my) [little|young] "
     "(girl|boy|child|woman|man|friend|pupil|"
     "student|person) [named|called] $S (@have|@start) $x $o {@first}"},
    {StoryForm::kOpening,
     "{@first} there (is|are|was|were) [a total of] $x $o {@first} (in|inside)"
     " (the|a) @box (that|which) $S (has|have|had|owns|owned|possesses|holds) "
     "{@first}"},
    {StoryForm::kOpening,
     "{@first} there (is|are|was|were) $x $o (in|inside) the @box "
     "(that (belongs|belonged) to|belonging to|owned by|of) $S {@first}"},
    {StoryForm::kOpening,
     "{@first} there (is|are|was|were) $x $o (in|inside) $S ('s|') @box "
     "{@first}"},
    {StoryForm::kOpening,
     "{@first} (in|inside) (the @box [that|which] $S (has|have|had|owns|owned|"
     "possesses)|$S ('s|') @box) there (is|are|was|were) $x $o"},
    {StoryForm::kOpening,
     "{@first} (the @box [that|which] $S "
     "(has|have|had|owns|owned|possesses)|$S "
     "('s|') @box) (contains|contained|holds|held|has|had) $x $o {@first}"},
    {StoryForm::kOpening,
     "{@first} $S (@have|@start) a @box (of|with|containing|that holds|"
     "that contains) $x $o [in it|inside] {@first}"},
    {StoryForm::kOpening,
     "{@first} $x $o (are|were) ((in|inside) (the @box [that|which] $S (has|"
     "have|had|owns|owned)|$S ('s|') @box)|owned by @agent|in $S ('s|') (hands|"
     "possession)|in the possession of $S|held by @agent|possessed by @agent) "
     "{@first}"},
    {StoryForm::kOpening, "{@first} $x $o (belong|belonged) to $S {@first}"},
    {StoryForm::kOpening,
     "{@first} $S (is|was) the (owner|proud owner) of $x $o {@first}"},
    {StoryForm::kOpening,
     "{@first} $S ('s|') @heap (starts|started|begins|began) with $x $o"},

    {StoryForm::kAdd,
     "{@adverb} [@where] {@adverb} [@from] $S {@adverb} @get @gift {@adverb} "
     "[@from|in the game|@onto] {@adverb} [@where] {@adverb}"},
    {StoryForm::kAdd,
     "{@adverb} [@where] {@adverb} @gift @are {@adverb} (@got|given|handed) "
     "{@adverb} [by @agent|to $S|@onto|@where] {@adverb} [@from|@where] "
     "{@adverb}"},
    {StoryForm::kAdd,
     "{@adverb} $S {@adverb} (pick|picks|picked|scoop|scoops|scooped|dig|digs|"
     "dug) @gift up {@adverb} [@where]"},
    {StoryForm::kAdd,
     "{@adverb} $S {@adverb} (take|takes|took|bring|brings|brought) @gift home "
     "{@adverb} [@from|@where]"},
    {StoryForm::kAdd,
     "{@adverb} (@pile|$S 's @heap) (grows|grew|increases) by @gift"},

    {StoryForm::kSubtract,
     "{@adverb} [@where] {@adverb} $S {@adverb} @lose @amount {@adverb} "
     "[to @F|@where] {@adverb}"},
    {StoryForm::kSubtract,
     "{@adverb} [@where] {@adverb} $S {@adverb} @give (@amount {@adverb} to "
     "@F|@F @amount) {@adverb} [as a (gift|present)] {@adverb} [@where]"},
    {StoryForm::kSubtract,
     "{@adverb} $S {@adverb} (throw|throws|threw|toss|tosses|tossed|chuck|"
     "chucks|chucked|give|gives|gave|trade|trades|traded|sell|sells|sold|hand|"
     "hands|handed) @amount (away|out|off|aside) {@adverb} [to @F|@where] "
     "{@adverb}"},
    {StoryForm::kSubtract,
     "{@adverb} $S {@adverb} (pass|passes|passed|hand|hands|handed|send|sends|"
     "sent) @amount (on|over|along|out|off) {@adverb} to @F {@adverb}"},
    {StoryForm::kSubtract,
     "{@adverb} to @F $S {@adverb} @give @amount {@adverb}"},
    {StoryForm::kSubtract,
     "{@adverb} [@where] {@adverb} @amount @are {@adverb} @lost {@adverb} "
     "[by @agent] {@adverb} [to @F|@where] {@adverb} [by @agent]"},
    {StoryForm::kSubtract,
     "{@adverb} @amount @are {@adverb} @given {@adverb} [by @agent] to @F "
     "{@adverb} [by @agent] {@adverb}"},
    {StoryForm::kSubtract,
     "{@adverb} @F @are {@adverb} given @amount by @agent {@adverb}"},

    {StoryForm::kMultiply,
     "{@adverb} $S {@adverb} (get|gets|got|has|have|had|receive|receives|"
     "received|obtain|obtains|obtained|own|owns|owned|hold|holds|held|possess|"
     "possesses|possessed|(end|ends|ended|finish|finishes|finished|wind|winds|"
     "wound) (up|up with|with)|(end|ends|ended) up (having|owning|getting)|is "
     "given|was given|are given|acquires|acquired|gains|gained|earns) "
     "{@adverb} @k @asmany {@adverb}"},
    {StoryForm::kMultiply,
     "{@adverb} $S {@adverb} (trade|trades|traded|swap|swaps|swapped|exchange|"
     "exchanges|exchanged|barter|barters|bartered) @all [away|in] for @k "
     "@asmany {@adverb}"},
    {StoryForm::kMultiply,
     "{@adverb} @all @are {@adverb} (traded|swapped|exchanged|bartered) [by "
     "@agent]"
     " for @k @asmany [by @agent] {@adverb}"},
    {StoryForm::kMultiply,
     "{@adverb} @pile {@adverb} (grow|grows|grew|increase|increases|increased|"
     "expand|expands|expanded|swell|swells|swelled|rises|rose|gets|is increased"
     ") to @k (its|the) [previous|original|old|former|earlier|current|initial] "
     "(size|number|height|amount) {@adverb}"},
    {StoryForm::kMultiply,
     "{@adverb} $S {@adverb} (doubles|doubled|triples|tripled) (@all|@pile|"
     "the (number|amount) of (@whose $o|$o|them)) {@adverb}"},
    {StoryForm::kMultiply,
     "{@adverb} (@pile|(the|@whose) (number|amount) of $o) {@adverb} (doubles|"
     "doubled|triples|tripled) {@adverb}"},
    {StoryForm::kMultiply,
     "{@adverb} @pile {@adverb} (becomes|became|gets|is|grows|grew) @k as "
     "(large|big|tall|high) [as before] {@adverb}"},
    {StoryForm::kMultiply,
     "{@adverb} to @k its [previous|original|old|former] size {@adverb} @pile "
     "(grows|grew)"},

    {StoryForm::kDivide,
     "{@adverb} $S {@adverb} (make|makes|made|form|forms|formed|create|creates|"
     "created|build|builds|built|fill|fills|filled|pack|packs|packed|prepare|"
     "prepares|prepared) $x @groups [(of|from|out of|with|using) @all] @and "
     "[$S] @keep"},
    {StoryForm::kDivide,
     "{@adverb} $S {@adverb} (cut|cuts|split|splits|divide|divides|divided|"
     "separate|separates|separated|sort|sorts|sorted|part|parts|parted|"
     "distribute|distributes|distributed|put|puts|arrange|arranges|arranged|"
     "pack|packs|packed|break|breaks|broke) @all [up] [equally|evenly] "
     "(into|in|among|between|to make|to form) $x @groups @and [$S] @keep"},
    {StoryForm::kDivide,
     "{@adverb} $x @groups (are|were) (made|formed|created|filled|built|packed|"
     "prepared) [(of|from|out of|with) @all] [by @agent] @and (@one "
     "(is|are|was|"
     "were) (kept|retained|saved)|[$S] @keep) [by @agent]"},
    {StoryForm::kDivide,
     "{@adverb} @all @are {@adverb} (cut|split|divided|separated|sorted|parted|"
     "distributed|put|arranged|packed) [up] [equally|evenly] [by @agent] "
     "(into|in|among|between) $x @groups [by @agent] @and (@one (is|was) (kept|"
     "retained|saved)|[$S] @keep) [by @agent]"},
    {StoryForm::kDivide,
     "{@adverb} $S {@adverb} (keep|keeps|kept) @one [out] of [the] $x @groups "
     "(that|which|after) $S (makes|made|fills|filled)"},
    {StoryForm::kDivide,
     "{@adverb} [after|by] (making|filling|forming) $x @groups [(of|from|out "
     "of|with) @all] $S @keep"},
    {StoryForm::kDivide,
     "{@adverb} [after|by] (cutting|splitting|dividing|separating) @all [up] "
     "(into|in) $x @groups $S @keep"},

    {StoryForm::kOther,
     "{@adverb} the [local|nearby|corner] (shop|store|market|bakery|kiosk) "
     "{@adverb} (opens|opened|is open|opens up|opens its doors|starts business)"
     " (at|from) $x [o'clock|am|a m] [on] [in the morning|@adverb]"},
    {StoryForm::kOther,
     "{@adverb} at $x [o'clock|am] the (shop|store|market) (opens|opened)"},
    {StoryForm::kOther,
     "{@adverb} @F (is|was|turns|turned|'s) {@adverb} $x [years] [old|of age]"},
    {StoryForm::kOther, "@F 's age is $x [years]"},
    {StoryForm::kOther,
     "{@adverb} the (walk|stroll|hike|trip|way|journey|walking) [home|there|"
     "back] (take|takes|took|lasts|lasted) [$S|him|her|them] $x minutes"},
    {StoryForm::kOther,
     "{@adverb} $S {@adverb} (read|reads|goes through|looks through|studies|"
     "studied|finishes|finished) $x pages (of|in|from) (a|an|the|some|his|her|"
     "their|another) [$w] (book|novel) {@adverb}"},
    {StoryForm::kOther,
     "{@adverb} $x pages of (a|the) (book|novel) are read by @agent"},
    {StoryForm::kOther,
     "{@adverb} @F (lives|lived|resides|resided|dwells) (in|at) [the] house "
     "[number|no] $x"},
    {StoryForm::kOther, "@F 's house (is|has) [the] [number] $x"},
    {StoryForm::kOther,
     "{@adverb} $S {@adverb} (see|sees|saw|notice|notices|noticed|spot|spots|"
     "spotted|watch|watches|watched|observe|observes|observed) {@adverb} $x "
     "(birds|ducks|gulls|sparrows|pigeons|crows|swans|geese|cats|dogs|cows|"
     "squirrels) {@adverb} [@where]"},
    {StoryForm::kOther, "{@adverb} $x birds are [also] seen by @agent"},

    {StoryForm::kQuestion,
     "{@please} {@now} [please] how many [@things] {@now} (do|does|will|would) "
     "$S {@now} (have|own|possess|hold|keep|have got|(end|finish|wind) up "
     "(with|having|owning)|finish with|have remaining|be left with) {@now} "
     "[please]"},
    {StoryForm::kQuestion,
     "{@please} {@now} how many [@things] (did $S {@now} (have|own|possess|"
     "(end|finish|wind) up (with|having)|finish with)) (@now {@now})"},
    {StoryForm::kQuestion,
     "{@please} {@now} how many [@things] (has|have) $S {@now} [got] {@now}"},
    {StoryForm::kQuestion,
     "{@please} {@now} how many [@things] {@now} (is|are|was|were) $S {@now} "
     "left with {@now}"},
    {StoryForm::kQuestion,
     "{@please} {@now} how many [@things] {@now} (are|is|were|will be|are "
     "there|there are|remain|remains|are in @pile|belong to $S) {@now} "
     "[(for|to|with) $S|in @pile|in the possession of $S|in $S 's possession|"
     "in (the @box|$S 's @box)] {@now}"},
    {StoryForm::kQuestion,
     "{@please} {@now} how many [@things] $S {@now} (has|have|owns|possesses|"
     "holds|ends up with|finishes with|is left with|will have|keeps) {@now} "
     "[please]"},
    {StoryForm::kQuestion,
     "{@please} {@now} (what|which|what is|what 's|what was|what will be) "
     "[the] [total|final|resulting|current] (number|count|amount|quantity) of "
     "$o {@now} [does|do|that|which|will] $S {@now} (have|has|own|owns|possess|"
     "possesses|hold|holds|ends up with|end up with) {@now}"},
    {StoryForm::kQuestion,
     "{@please} {@now} [what is|what 's|what was] (the|$S 's) [total|final|"
     "resulting|current] (number|count|amount|quantity) of $o {@now} [[that] "
     "$S "
     "{@now} (has|have|owns|possesses|holds|ends up with|is left with)|left "
     "for "
     "$S|in @pile] {@now}"},
    {StoryForm::kQuestion,
     "{@please} {@now} $S (has|have|owns|is left with|ends up with) how many "
     "[@things] {@now}"},
};

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_STORY_FORMS_H_
