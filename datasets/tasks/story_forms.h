// The forms of story sentences: those that the generator writes
// (story_sentences.h), and light paraphrases of them. known_questions.h
// recognizes a story by these forms; a sentence that matches none is
// unfamiliar.
//
// Patterns are as in word_pattern.h; story_phrases.h has the named ones. Slots:
// $S the hero, by name or pronoun, omitted in a clause after another; $F a
// name; $G the name of somebody else; $l a word in -ly; $v a word that leaves
// the event as it is (kStoryMeaningWords); $o the story's things; $x a number;
// $w any word that means nothing to a story.
#ifndef ESPALIER_DATASETS_TASKS_STORY_FORMS_H_
#define ESPALIER_DATASETS_TASKS_STORY_FORMS_H_

#include <string_view>

namespace espalier {

enum class StoryForm {
  kLead,  // a polite word before or after the story
  kOpening,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kOther,  // its number changes nothing
  kAgain,  // getting or losing, as in the clause before, without its verb
  kQuestion,
};

struct StoryFormPattern {
  StoryForm form;
  std::string_view pattern;
};

inline constexpr StoryFormPattern kStoryForms[] = {
    {StoryForm::kLead,
     "(hi|hello|hey|good (morning|day|afternoon|evening)|dear "
     "(assistant|all|friend)) [there] [everyone|everybody]"},
    {StoryForm::kLead,
     "[please|kindly|can you|could you|would you|will you] [please|kindly|help "
     "me [to]|try to] (solve|answer|read|consider|help [me]|look at|work "
     "out|help me with|think about) [(this|the|a|my) "
     "[following|little|short|small|simple|next|quick] "
     "(story|question|problem|puzzle|task|exercise|one|riddle)|this|the "
     "following|me] [for me] [please]"},
    {StoryForm::kLead,
     "(here is|here 's|this is|i have|i 've got|now) (a|my|the|another|one) "
     "[little|short|small|simple|quick|following|next] "
     "(story|question|problem|puzzle|task|exercise|riddle) [for you] [to "
     "solve|to answer]"},
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
     "(girl|boy|child|woman|man|friend|pupil|student|person) [named|called] $S "
     "(@have|@start) $x $o {@first}"},
    {StoryForm::kOpening,
     "{@first} there (is|are|was|were) [a total of] $x $o {@first} (in|inside) "
     "(the|a) @box (that|which) $S @owns {@first}"},
    {StoryForm::kOpening,
     "{@first} there (is|are|was|were) $x $o (in|inside) the @box "
     "((that|which) (belongs|belonged|is) [to]|belonging to|owned by|of) $S "
     "{@first}"},
    {StoryForm::kOpening,
     "{@first} there (is|are|was|were) $x $o (in|inside) $S ('s|') @box "
     "{@first}"},
    {StoryForm::kOpening,
     "{@first} (in|inside) (the @box [that|which] $S @owns|$S ('s|') @box) "
     "there (is|are|was|were) $x $o"},
    {StoryForm::kOpening,
     "{@first} (the @box [that|which] $S @owns|$S ('s|') @box) "
     "(contains|contained|holds|held|has|had|'s got) $x $o [in it|inside] "
     "{@first}"},
    {StoryForm::kOpening,
     "{@first} $S (@have|@start) a @box (of|with|containing|that holds|that "
     "contains) $x $o [in it|inside] {@first}"},
    {StoryForm::kOpening,
     "{@first} $x $o (are|were) ((in|inside) (the @box [that|which] $S "
     "@owns|$S ('s|') @box)|owned by @agent|in $S ('s|') (hands|possession)|in "
     "the possession of $S|held by @agent|possessed by @agent) {@first}"},
    {StoryForm::kOpening, "{@first} $x $o (belong|belonged) to $S {@first}"},
    {StoryForm::kOpening,
     "{@first} there (is|was|'s) a @box (of|with|containing|holding) $x $o [in "
     "it|inside] ((that|which) $S @owns|it (is|was|belongs|belonged) (to $S|$S "
     "'s)|the @box (belongs|belonged) to $S)"},
    {StoryForm::kOpening,
     "{@first} there (are|were) $x $o (in|inside) (a|the) @box [and] (it|the "
     "@box) (is|was|belongs|belonged) (to $S|$S 's)"},
    {StoryForm::kOpening,
     "{@first} $S (@have|has|had) a @box [and] (there (are|were) $x $o "
     "(in|inside) (it|the @box)|(it|the @box) "
     "(contains|contained|holds|held|has|had) $x $o)"},
    {StoryForm::kOpening,
     "{@first} $S (is|was) the (owner|proud owner) of $x $o {@first}"},
    {StoryForm::kOpening,
     "{@first} $S ('s|') @heap (starts|started|begins|began) with $x $o"},

    {StoryForm::kAdd,
     "{@adverb} [@where] {@adverb} [@from] $S {@adverb} @get @gift {@adverb} "
     "[@from|in the game|@onto] {@adverb} [@where] {@adverb}"},
    {StoryForm::kAdd,
     "{@adverb} [@where] {@adverb} @gift @are {@adverb} (@got|given|handed) "
     "{@adverb} [by @agent|to @agent|@onto|@where] {@adverb} [@from|@where] "
     "{@adverb}"},
    {StoryForm::kAdd,
     "{@adverb} $S {@adverb} "
     "(pick|picks|picked|scoop|scoops|scooped|dig|digs|dug) @gift up {@adverb} "
     "[@where]"},
    {StoryForm::kAdd,
     "{@adverb} $S {@adverb} (take|takes|took|bring|brings|brought) @gift home "
     "{@adverb} [@from|@where]"},
    {StoryForm::kAdd,
     "{@adverb} (@pile|$S 's @heap) (grows|grew|increases) by @gift"},

    {StoryForm::kSubtract,
     "{@adverb} [@where] {@adverb} $S {@adverb} @lose @amount {@adverb} [to "
     "@F|@where] {@adverb} [(which|and (they|these|those)) [all] "
     "(break|breaks|broke|(get|got|are|were) [@lost])|and "
     "(loses|lost|breaks|broke|damages|damaged) them]"},
    {StoryForm::kSubtract,
     "{@adverb} [@where] {@adverb} $S {@adverb} @give (@amount {@adverb} to "
     "@F|@F @amount) {@adverb} [as a (gift|present)] {@adverb} [@where]"},
    {StoryForm::kSubtract,
     "{@adverb} $S {@adverb} "
     "(throw|throws|threw|toss|tosses|tossed|chuck|chucks|chucked|give|gives|"
     "gave|trade|trades|traded|sell|sells|sold|hand|hands|handed) @amount "
     "(away|out|off|aside) {@adverb} [to @F|@where] {@adverb}"},
    {StoryForm::kSubtract,
     "{@adverb} $S {@adverb} "
     "(pass|passes|passed|hand|hands|handed|send|sends|sent) @amount "
     "(on|over|along|out|off) {@adverb} to @F {@adverb}"},
    {StoryForm::kSubtract,
     "{@adverb} to @F $S {@adverb} @give @amount {@adverb}"},
    {StoryForm::kSubtract,
     "{@adverb} [@where] {@adverb} @amount @are {@adverb} @lost {@adverb} [by "
     "@agent] {@adverb} [to @F|@where] {@adverb} [by @agent]"},
    {StoryForm::kSubtract,
     "{@adverb} @amount @are {@adverb} @given {@adverb} [by @agent] to @F "
     "{@adverb} [by @agent] {@adverb}"},
    {StoryForm::kSubtract,
     "{@adverb} @F @are {@adverb} given @amount by @agent {@adverb}"},

    {StoryForm::kMultiply,
     "{@adverb} $S {@adverb} "
     "(get|gets|got|has|have|had|receive|receives|received|obtain|obtains|"
     "obtained|own|owns|owned|hold|holds|held|possess|possesses|possessed|(end|"
     "ends|ended|finish|finishes|finished|wind|winds|wound) (up|up "
     "with|with)|(end|ends|ended) up (having|owning|getting)|is given|was "
     "given|are given|acquires|acquired|gains|gained|earns) {@adverb} @k "
     "@asmany {@adverb}"},
    {StoryForm::kMultiply,
     "{@adverb} $S {@adverb} "
     "(trade|trades|traded|swap|swaps|swapped|exchange|exchanges|exchanged|"
     "barter|barters|bartered) @all [away|in] for @k @asmany {@adverb}"},
    {StoryForm::kMultiply,
     "{@adverb} @all @are {@adverb} (traded|swapped|exchanged|bartered) [by "
     "@agent] for @k @asmany [by @agent] {@adverb}"},
    {StoryForm::kMultiply,
     "{@adverb} @pile {@adverb} "
     "(grow|grows|grew|increase|increases|increased|expand|expands|expanded|"
     "swell|swells|swelled|rises|rose|gets|is increased) to @k (its|the) "
     "[previous|original|old|former|earlier|current|initial] "
     "(size|number|height|amount) {@adverb}"},
    {StoryForm::kMultiply,
     "{@adverb} $S {@adverb} "
     "(doubles|doubled|triples|tripled|quadruples|quadrupled) (@all|@pile|the "
     "(number|amount) of (@whose $o|$o|them)) {@adverb}"},
    {StoryForm::kMultiply,
     "{@adverb} (@pile|(the|@whose) (number|amount) [of $o]) {@adverb} "
     "(doubles|doubled|triples|tripled|quadruples|quadrupled) {@adverb}"},
    {StoryForm::kMultiply,
     "{@adverb} @pile {@adverb} (becomes|became|gets|is|grows|grew) @k as "
     "(large|big|tall|high) [as before] {@adverb}"},
    {StoryForm::kMultiply,
     "{@adverb} to @k its [previous|original|old|former] size {@adverb} @pile "
     "(grows|grew)"},

    {StoryForm::kDivide,
     "{@adverb} $S {@adverb} "
     "(make|makes|made|form|forms|formed|create|creates|created|build|builds|"
     "built|fill|fills|filled|pack|packs|packed|prepare|prepares|prepared) $x "
     "@groups [(of|from|out of|with|using) @all] @and [$S] @keep"},
    {StoryForm::kDivide,
     "{@adverb} $S {@adverb} "
     "(cut|cuts|split|splits|divide|divides|divided|separate|separates|"
     "separated|sort|sorts|sorted|part|parts|parted|distribute|distributes|"
     "distributed|put|puts|arrange|arranges|arranged|pack|packs|packed|break|"
     "breaks|broke) @all [up] [equally|evenly] (into|in|among|between|to "
     "make|to form) $x @groups @and [$S] @keep"},
    {StoryForm::kDivide,
     "{@adverb} $x @groups (are|were) "
     "(made|formed|created|filled|built|packed|prepared) [(of|from|out "
     "of|with) @all] [by @agent] @and (@one (is|are|was|were) "
     "(kept|retained|saved)|[$S] @keep) [by @agent]"},
    {StoryForm::kDivide,
     "{@adverb} @all @are {@adverb} "
     "(cut|split|divided|separated|sorted|parted|distributed|put|arranged|"
     "packed) [up] [equally|evenly] [by @agent] (into|in|among|between) $x "
     "@groups [by @agent] @and (@one (is|was) (kept|retained|saved)|[$S] "
     "@keep) [by @agent]"},
    {StoryForm::kDivide,
     "{@adverb} $S {@adverb} (keep|keeps|kept) @one [out] of [the] $x @groups "
     "[(that|which|after) $S (makes|made|fills|filled)]"},
    {StoryForm::kDivide,
     "{@adverb} [after|by] (making|filling|forming) $x @groups [(of|from|out "
     "of|with) @all] $S @keep"},
    {StoryForm::kDivide,
     "{@adverb} [after|by] (cutting|splitting|dividing|separating) @all [up] "
     "(into|in) $x @groups $S @keep"},

    {StoryForm::kOther,
     "{@adverb} the [local|nearby|corner] (shop|store|market|bakery|kiosk) "
     "{@adverb} (opens|opened|is open|opens up|opens its doors|starts "
     "business) (at|from) $x [o'clock|am|a m] [on] [in the morning|@adverb]"},
    {StoryForm::kOther,
     "{@adverb} at $x [o'clock|am] the (shop|store|market) (opens|opened)"},
    {StoryForm::kOther,
     "{@adverb} @F (is|was|turns|turned|'s) {@adverb} $x [years] [old|of age]"},
    {StoryForm::kOther, "@F 's age is $x [years]"},
    {StoryForm::kOther,
     "{@adverb} the (walk|stroll|hike|trip|way|journey|walking) "
     "[home|there|back] (take|takes|took|lasts|lasted) [$S|him|her|them] $x "
     "minutes"},
    {StoryForm::kOther,
     "{@adverb} $S {@adverb} (read|reads|goes through|looks "
     "through|studies|studied|finishes|finished) $x pages (of|in|from) "
     "(a|an|the|some|his|her|their|another) [$w] (book|novel) {@adverb}"},
    {StoryForm::kOther,
     "{@adverb} $x pages of (a|the) (book|novel) are read by @agent"},
    {StoryForm::kOther,
     "{@adverb} @F (lives|lived|resides|resided|dwells) (in|at) [the] house "
     "[number|no] $x"},
    {StoryForm::kOther, "@F 's house (is|has) [the] [number] $x"},
    {StoryForm::kOther,
     "{@adverb} $S {@adverb} "
     "(see|sees|saw|notice|notices|noticed|spot|spots|spotted|watch|watches|"
     "watched|observe|observes|observed|count|counts|counted|hear|hears|heard|"
     "feed|feeds|fed) {@adverb} $x "
     "(birds|ducks|gulls|sparrows|pigeons|crows|swans|geese|cats|dogs|cows|"
     "squirrels) {@adverb} [@where]"},
    {StoryForm::kOther, "{@adverb} $x birds are [also] seen by @agent"},

    {StoryForm::kQuestion,
     "{@please} {@now} [please] how many [@things] {@now} (do|does|will|would) "
     "$S {@now} (have|own|possess|hold|keep|have got|(end|finish|wind) up "
     "(with|having|owning)|finish with|have remaining|be left with) {@now} "
     "[please]"},
    {StoryForm::kQuestion,
     "{@please} {@now} how many [@things] (did $S {@now} "
     "(have|own|possess|(end|finish|wind) up (with|having)|finish with)) (@now "
     "{@now})"},
    {StoryForm::kQuestion,
     "{@please} {@now} how many [@things] (has|have) $S {@now} [got] {@now}"},
    {StoryForm::kQuestion,
     "{@please} {@now} how many [@things] {@now} (is|are|was|were) $S {@now} "
     "left with {@now}"},
    {StoryForm::kQuestion,
     "{@please} {@now} how many [@things] {@now} (are|is|were|will be|are "
     "there|there are|remain|remains|are in @pile|belong to $S) {@now} "
     "[(for|to|with) $S|in @pile|in the possession of $S|in $S 's "
     "possession|in (the @box|$S 's @box)] {@now}"},
    {StoryForm::kQuestion,
     "{@please} {@now} how many [@things] $S {@now} "
     "(has|have|owns|possesses|holds|ends up with|finishes with|is left "
     "with|will have|keeps) {@now} [please]"},
    {StoryForm::kQuestion,
     "{@please} {@now} (what|which|what is|what 's|what was|what will be) "
     "[the] [total|final|resulting|current] (number|count|amount|quantity) of "
     "$o {@now} [does|do|that|which|will] $S {@now} "
     "(have|has|own|owns|possess|possesses|hold|holds|ends up with|end up "
     "with) {@now}"},
    {StoryForm::kQuestion,
     "{@please} {@now} [what is|what 's|what was] (the|$S 's) "
     "[total|final|resulting|current] (number|count|amount|quantity) of $o "
     "{@now} [[that] $S {@now} (has|have|owns|possesses|holds|ends up with|is "
     "left with)|left for $S|in @pile] {@now}"},
    {StoryForm::kQuestion,
     "{@please} {@now} $S (has|have|owns|is left with|ends up with) how many "
     "[@things] {@now}"},

    // The same events told more freely: whatever the order of harmless words.
    {StoryForm::kLead, "@lead {@lead}"},
    {StoryForm::kOpening,
     "{@first} $S [(who|a|an|the) $w [$w] [$w]] {@first} (@have|'s "
     "got|(is|was) (someone|somebody|a (boy|girl|man|woman|child)) who "
     "@have|(is|was) holding|got|received|is in possession of|@start|(has|had) "
     "(collected|gathered|saved|saved up)|(is|was) the [proud] owner "
     "of|carry|carries|carried|bring|brings|brought|store|stores|stored|("
     "happens|happened) to (have|own)) {@adverb} [a (total|collection|@heap) "
     "of|exactly] $x $o {@first}"},
    {StoryForm::kOpening,
     "{@first} (somebody|someone|(a|the|my) [little|young|good|old] $w) "
     "[named|called] $S (@have|@start) [a (total|collection|@heap) of|exactly] "
     "$x $o {@first}"},
    {StoryForm::kOpening,
     "{@first} there (is|are|was|were) $x $o (on|in|at|under) $S 's $w "
     "{@first}"},
    {StoryForm::kOpening,
     "{@first} ($S 's ($w|@box|@heap)|(the|a) (@box|@heap) of $S) (consists "
     "of|consisted of|contains|contained|has|had|holds|held|is made up "
     "of|counts|numbers|stores) [a total of|exactly] $x $o [in it|inside] "
     "{@first}"},
    {StoryForm::kOpening,
     "{@first} [a total of|exactly] $x $o (belong|belonged) to $S {@first}"},
    {StoryForm::kOpening,
     "{@first} $S (count|counts|counted) (his|her|their) $o and "
     "(finds|found|sees|saw) (that (he|she|they) (has|have|had)|there are) $x"},
    {StoryForm::kAdd,
     "{@adverb} (after|by|upon|on|having) @getting @gift {@adverb} [from @F] "
     "{@adverb}"},
    {StoryForm::kAdd,
     "{@adverb} $S {@adverb} "
     "(see|sees|saw|spot|spots|spotted|notice|notices|noticed) @gift {@adverb} "
     "and "
     "(take|takes|took|pick|picks|picked|keep|keeps|kept|grab|grabs|grabbed|"
     "collects|collected) them [up|home|along] {@adverb}"},
    {StoryForm::kSubtract,
     "{@adverb} (after|by|upon|on|having) @losing @amount {@adverb} [to @F] "
     "{@adverb}"},
    {StoryForm::kSubtract,
     "{@adverb} $S {@adverb} "
     "(step|steps|stepped|sit|sits|sat|tread|treads|trod) on @amount {@adverb} "
     "and (they|these|those) (break|breaks|broke|crack|cracks|cracked) "
     "{@adverb}"},
    {StoryForm::kMultiply,
     "{@adverb} ($S (multiply|multiplies|multiplied) @all|@pile "
     "(multiplies|multiplied|is multiplied|grows|grew|increases|increased)) by "
     "[a factor of] $x {@adverb}"},
    {StoryForm::kDivide,
     "{@adverb} $S {@adverb} (divide|divides|divided) @all by $x @keeps"},
    {StoryForm::kAdd,
     "{@adverb} $S {@adverb} @aux {@adverb} @get @gift {@adverb}"},
    {StoryForm::kAdd,
     "{@adverb} $S {@adverb} [@aux] (take|takes|took|(is|was) (presented "
     "with|handed|sent)) @gift {@adverb} (from|by) @F {@adverb}"},
    {StoryForm::kAdd,
     "{@adverb} $S {@adverb} (get|gets|got|receive|receives|received) @gift "
     "{@adverb} [as a (gift|present)] {@adverb} [from @F] {@adverb}"},
    {StoryForm::kAdd,
     "{@adverb} [a|an|the|@kin|@whose] (@G|$w) {@adverb} (@give|lend|lends) "
     "(@agent @gift|@gift {@adverb} to @agent) {@adverb}"},
    {StoryForm::kAdd,
     "{@adverb} @G {@adverb} ((let|lets) @agent have "
     "@gift|(present|presents|presented) @agent with @gift|(add|adds|added) "
     "@gift @onto|(make|makes|made) @agent a (gift|present) of @gift)"},
    {StoryForm::kAdd,
     "{@adverb} (a|the|@whose|winning a|winning the) $w "
     "(earns|earned|brings|brought|gets|got|gives|gave|wins|won) @agent @gift "
     "{@adverb}"},
    {StoryForm::kAdd,
     "{@adverb} @gift (turn|turns|turned|come|came) (up|in) {@adverb}"},
    {StoryForm::kSubtract,
     "{@adverb} $S {@adverb} @aux {@adverb} (@lose|@give) @amount {@adverb} "
     "[to @F] {@adverb}"},
    {StoryForm::kSubtract,
     "{@adverb} $S {@adverb} [@aux] "
     "((put|puts|throw|throws|threw|toss|tosses|tossed) @amount {@adverb} "
     "(in|into) [the|a] (bin|trash|rubbish|garbage|dustbin|trash can|garbage "
     "can|waste|waste "
     "basket|wastebasket)|(throw|throws|threw|toss|tosses|tossed) @amount "
     "{@adverb} [away|out|@where]|(leave|leaves|left|forget|forgets|forgot) "
     "@amount (@where|{@adverb} (to|with) @F)|(let|lets) (@F (have|take|keep) "
     "@amount|@amount (fall|drop|go))|(make|makes|made) @F a (gift|present) of "
     "@amount|(share|shares|shared) @amount with "
     "@F|(present|presents|presented) @F with @amount) {@adverb}"},
    {StoryForm::kSubtract,
     "{@adverb} @G {@adverb} "
     "((get|gets|got|receive|receives|received|take|takes|took|(is|was) "
     "(given|handed|sent)) ($x [of @whose|of the] $o from @agent|$x of "
     "(them|@whose $o) [away] [from @agent]|$x [$o] [away] from "
     "@agent)|(take|takes|took) $x [$o] away|(buy|buys|bought) ($x of "
     "(them|@whose $o) [from @agent]|$x [$o] from @agent)) {@adverb}"},
    {StoryForm::kSubtract,
     "{@adverb} (a|another|some) "
     "(customer|buyer|neighbour|neighbor|collector|stranger|thief) "
     "(buys|bought|takes|took|steals|stole) @amount [from @agent] {@adverb}"},
    {StoryForm::kSubtract,
     "{@adverb} @amount {@adverb} ((go|goes|went) missing|(get|gets|got) "
     "@lost|(go|goes|went) to (@F|a "
     "buyer)|disappear|disappears|disappeared|vanish|vanishes|vanished|break|"
     "breaks|broke|crack|cracks|cracked|fall|falls|fell|are put "
     "(@where|away)|(slip|slips|slipped) away) {@adverb}"},
    {StoryForm::kSubtract,
     "{@adverb} (a|an|the) $w [@where] (costs|cost) @agent @amount {@adverb}"},
    {StoryForm::kAdd,
     "{@any} $S {@any} (@get|increases|increased|increase) [@adverb] [the "
     "@heap by] @gift @after"},
    {StoryForm::kSubtract,
     "{@any} $S {@any} "
     "(@lose|throw|throws|threw|decreases|decreased|reduces|reduced) [@adverb] "
     "[the @heap by] @amount @after [(and|but) (can't|cannot|never) "
     "(find|finds) them|(and|but) (loses|breaks|lost|broke) them]"},
    {StoryForm::kSubtract,
     "{@any} $S {@any} @give (@amount @after to @F|@F @amount) @after"},
    {StoryForm::kSubtract,
     "{@any} $S {@any} ((surprises|surprised|helps|supplies|rewards|provides) "
     "@F with @amount @after|(has|had) @amount stolen|(sits|sat) on @amount "
     "and (breaks|broke) them|(notices|noticed|sees|finds|discovers) that "
     "@amount (are|were) (missing|gone|lost|broken)|gets rid of @amount by "
     "(selling|trading) them) @after"},
    {StoryForm::kSubtract,
     "{@any} @amount @after (are|were|get|got|end up|ended up|go|went|lie|have "
     "been) {@any} (@lost|stolen|in the (bin|trash|rubbish)) {@any}"},
    {StoryForm::kSubtract,
     "{@any} the $w (blows|blew|washes|washed|carries|carried|sweeps|swept) "
     "@amount away {@any}"},
    {StoryForm::kAdd,
     "{@adverb} $S {@adverb} (take|takes|took) @gift from [the|a] "
     "(beach|floor|ground|street|shelf|garden|park|forest|yard|shore|sand|"
     "field|woods|river|road|sidewalk|pavement) {@adverb}"},
    {StoryForm::kAdd,
     "{@adverb} @G {@adverb} "
     "(buy|buys|bought|get|gets|got|bring|brings|brought|find|finds|found|pick|"
     "picks|picked|collect|collects|collected) (@agent @gift|@gift {@adverb} "
     "for @agent) {@adverb}"},
    {StoryForm::kSubtract,
     "{@adverb} (a|an|the|@whose) [$w] "
     "(dog|puppy|cat|kitten|baby|goat|mouse|squirrel|parrot|bird) {@adverb} "
     "(@losing_verb|steal|steals|stole) $x [more] of (them|these|those) "
     "{@adverb}"},
    {StoryForm::kSubtract,
     "{@adverb} $S {@adverb} "
     "(step|steps|stepped|sit|sits|sat|tread|treads|trod) on @amount {@adverb} "
     "and (break|breaks|broke|crack|cracks|cracked|crush|crushes|crushed) them "
     "{@adverb}"},
    {StoryForm::kMultiply,
     "{@times} (twice|double|thrice|triple|$x times) {@times}"},
    {StoryForm::kDivide,
     "{@share} (@even {@share} $x @parts {@share}|$x @even [sized] @parts "
     "{@share}|$x @parts {@share} @even {@share}) @keeps"},
    {StoryForm::kDivide,
     "{@share} (@even {@share} $x @parts|$x @even [sized] @parts|$x @parts "
     "{@share} @even) [(is|are|was|were) made] @keeps"},
    {StoryForm::kOther,
     "{@other} $x [more|book] "
     "(minutes|minute|pages|birds|ducks|cats|dogs|trees|clouds|years|o'clock|"
     "cars|people|children|stairs|steps|houses|windows) {@other}"},
    {StoryForm::kOther,
     "{@other} "
     "(open|opens|opened|opening|close|closes|closed|birthday|aged|turned|"
     "turns|turn|number|house|address|room|age) {@other} $x {@other}"},
    {StoryForm::kOther,
     "{@other} (at|from|before) $x [o'clock|am] {@other} (open|opens|opened) "
     "{@other}"},
    {StoryForm::kOther,
     "{@adverb} @F {who|will|soon|just|@adverb} (is|be|was|turns|turned) "
     "{just|already|@adverb} [a|an|a (child|boy|girl|man|woman|pupil) of] $x "
     "[year] [years] [old|of age] {@other}"},
    {StoryForm::kOther, "{@adverb} @F (lives|lived) {@other} $x [$F] [street]"},
    // "She gives 18 pens to Tom, then 52 to Eva."
    {StoryForm::kAgain,
     "[then] @after_that [again] [@G] @further [(to|from) @G] {@adverb}"},
    {StoryForm::kAgain, "(@further (to|from) @G|@G @further)"},
    {StoryForm::kAgain,
     "((another|a further|an additional) $x [more] [@things]|$x more "
     "[@things]) [(to|from) @G]"},
    {StoryForm::kQuestion, "{@ask} @many {@asked}"},
    {StoryForm::kQuestion,
     "{@ask} (how (large|big) is|what is the (size|final size) of) (@whose|$S "
     "'s) @heap {@now}"},
    {StoryForm::kQuestion,
     "{@ask} [what is|what 's] $S 's (final|total|current|new|present) "
     "(number|count|total) [of $o] {@now}"},
    {StoryForm::kQuestion,
     "{@ask} (compute|count|calculate|find|determine) $S 's $o {@now}"},
    {StoryForm::kQuestion,
     "{@ask} what (is|'s|was) the [final|new] (total|result)"},
    {StoryForm::kQuestion, "{@now} $S {@now} (has|have|owns) @many {@asked}"},
};

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_STORY_FORMS_H_
