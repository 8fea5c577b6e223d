// The phrases that the forms of story sentences are put together from
// (story_forms.h, which says what the slots are): people, places, times,
// things, amounts, and the verbs of getting and losing. A phrase that may stand
// in one sentence may stand in all of its kind.
#ifndef ESPALIER_DATASETS_TASKS_STORY_PHRASES_H_
#define ESPALIER_DATASETS_TASKS_STORY_PHRASES_H_

#include <string_view>

#include "datasets/tasks/word_pattern.h"

namespace espalier {

// Nouns that make what happens unreal, or of which something else is lost:
// "finds 4 in a dream", "loses track of 4".
inline constexpr std::string_view kStoryUnreal[] = {
    "dream",    "dreams", "nightmare", "imagination", "mind",  "head",
    "thoughts", "theory", "track",     "sight",       "touch", "count",
    "hasnt",    "hadnt",  "havent",    "isnt",        "wasnt", "aint",
    "doesnt",   "didnt",  "wont"};

// Words that change what a sentence tells: whether it happens at all, to whose
// things, and how often. Those that get or lose things are in it too, as a
// sentence has one of them.
inline constexpr std::string_view kStoryMeaningWords[] = {
    "want",       "wants",      "wanted",     "wish",       "wishes",
    "wished",     "hope",       "hopes",      "hoped",      "plan",
    "plans",      "planned",    "try",        "tries",      "tried",
    "refuse",     "refuses",    "refused",    "dream",      "dreams",
    "dreamed",    "dreamt",     "almost",     "nearly",     "may",
    "might",      "could",      "would",      "should",     "must",
    "can",        "cannot",     "can't",      "couldn't",   "didn't",
    "doesn't",    "won't",      "wouldn't",   "will",       "shall",
    "pretend",    "pretends",   "promise",    "promises",   "promised",
    "owe",        "owes",       "owed",       "borrow",     "borrows",
    "borrowed",   "lend",       "lends",      "lent",       "return",
    "returns",    "returned",   "need",       "needs",      "needed",
    "think",      "thinks",     "thought",    "believes",   "says",
    "forbid",     "forbids",    "instead",    "about",      "around",
    "roughly",    "few",        "enough",     "price",      "cost",
    "costs",      "worth",      "money",      "expects",    "intends",
    "likes",      "offer",      "offers",     "ask",        "asks",
    "asked",      "again",      "back",       "twice",      "double",
    "triple",     "thrice",     "times",      "together",   "friend",
    "friends",    "brother",    "sister",     "mother",     "father",
    "mom",        "mum",        "dad",        "parents",    "parent",
    "cousin",     "teacher",    "uncle",      "aunt",       "children",
    "people",     "someone",    "somebody",   "nobody",     "everyone",
    "anyone",     "share",      "shares",     "equally",    "evenly",
    "remain",     "remains",    "keep",       "keeps",      "kept",
    "find",       "finds",      "found",      "buy",        "buys",
    "bought",     "win",        "wins",       "won",        "get",
    "gets",       "got",        "give",       "gives",      "gave",
    "given",      "lose",       "loses",      "lost",       "sell",
    "sells",      "sold",       "throw",      "throws",     "threw",
    "break",      "breaks",     "broke",      "broken",     "drop",
    "drops",      "dropped",    "take",       "takes",      "took",
    "receive",    "receives",   "received",   "trade",      "trades",
    "traded",     "swap",       "swaps",      "bring",      "brings",
    "brought",    "make",       "makes",      "made",       "hand",
    "hands",      "handed",     "donate",     "donates",    "eat",
    "eats",       "ate",        "paint",      "paints",     "painted",
    "count",      "counts",     "counted",    "choose",     "forgets",
    "forgot",     "avoid",      "avoids",     "stop",       "stops",
    "fail",       "fails",      "failed",     "used",       "save",
    "saves",      "saved",      "stolen",     "steals",     "doubles",
    "doubled",    "triples",    "tripled",    "quadruple",  "quadruples",
    "quadrupled", "quintuples", "quintupled", "halve",      "halves",
    "halved",     "multiply",   "multiplies", "multiplied", "divide",
    "divides",    "divided",    "split",      "splits",     "increase",
    "increases",  "increased",  "decrease",   "decreases",  "decreased",
    "tenfold",    "fold",       "day",        "days",       "week",
    "weeks",      "month",      "months",     "year",       "years",
    "hour",       "hours",      "tomorrow",   "perhaps",    "maybe",
    "possibly",   "usually",    "often",      "always",     "hides",
    "hid",        "puts",       "put",        "see",        "sees",
    "saw",        "discover",   "discovers",  "missing",    "pays",
    "paid",       "spends",     "spent",      "spend",      "added",
    "adds"};

inline constexpr NamedPattern kStoryWords[] = {
    // People, places and times.
    {"whose", "(his|her|their|the)"},
    {"kin",
     "(his|her|their|a|an|the) [older|younger|big|little|best|good|close|new] "
     "(friend|brother|sister|mother|father|mom|mum|dad|cousin|neighbour|"
     "neighbor|classmate|teacher|aunt|uncle|grandmother|grandfather|grandma|"
     "grandpa|roommate|stranger|customer|buyer|visitor|colleague|girl|boy)"},
    {"agent", "($S|him|her|them)"},
    {"F",
     "(charity|(a|an|the|his|her|their) "
     "(museum|school|library|club|neighbours|neighbors|class|zoo|church|"
     "hospital|baby|dog|cat|birds|charity|dealer|shelter|kids|family|friends|"
     "parents|classmates)|@kin [$F]|(someone|somebody) [else]|$F)"},
    {"G", "(@kin [$G]|$G)"},
    {"where",
     "((at|in|on|near|under|by|during|along|behind|outside|inside|from|after|"
     "before|over|through|around|across|beside|beneath|off|between|down|up|"
     "past|among|throughout|onto|toward|towards|underneath|next to|in front "
     "of|beyond|above|below|opposite|thanks to|because of|due to|playing) "
     "[a|an|the|his|her|their|some|another|that|this] $w [$w] "
     "[$w]|(walking|strolling|playing|shopping|running|cleaning|travelling|"
     "driving|cycling|hiking) [along|in|on|at|to|through|around|by|home] "
     "[the|a|his|her] [$w] [$w]|(on|in) (the|his|her|their) "
     "(way|trip|walk|road) (home|back|there|to [the] $w)|(while|when) "
     "(walking|playing|cleaning|tidying|out|travelling|shopping) [$w] "
     "[the|his|her|a] [$w]|out of $w|with (luck|joy|pleasure|care|a "
     "[little|bit of] luck)|(for|as|on) (a|an|the|his|her|their) "
     "[next|birthday|christmas|nice|lovely|special|welcome] "
     "(birthday|collection|present|gift|prize|reward|treat|surprise)|(to|into) "
     "[the|a|his|her] "
     "(school|work|class|town|river|lake|sea|water|ground|floor|drain|bin|"
     "trash|rubbish)|at home|online|outside|(at|in|on) the $w of "
     "[the|a|his|her] $w|in [the] $w 's [$w]|up in the $w)"},
    {"adverb",
     "($l|@where|as luck would have it|as a (result|consequence)|oh "
     "(no|dear)|alas|hooray|wow|for once|in fact|by "
     "(buying|selling|winning|finding|losing) (them|it|one)|for [some|good] "
     "money|somewhere [else]|elsewhere|somehow|outdoors|indoors|any "
     "more|anymore|any longer|by the way|by chance|by luck|indeed|already|once "
     "more|in addition|besides|overnight|tonight|right now|still|out of the "
     "blue|(later|early) (that|this|the|in the|on the) [same|next] "
     "(day|morning|afternoon|evening|week)|also|again|just|even|happily|"
     "luckily|carefully|quickly|accidentally|sadly|proudly|kindly|"
     "unfortunately|fortunately|generously|gladly|suddenly|simply|first|"
     "firstly|first of "
     "all|then|now|next|later|afterwards|afterward|thereafter|soon|finally|"
     "eventually|subsequently|immediately|today|yesterday|meanwhile|later "
     "on|soon after|shortly after|after this|after that|after a "
     "while|following that|at that point|at this point|by now|(a|one) "
     "(moment|minute|hour|day|week|month|year|bit|little|while) "
     "later|(the|that|this|on the) (next|following|same|very|very same) "
     "(day|week|morning|afternoon|evening|month)|(that|this) "
     "(day|week|morning|afternoon|evening)|in the "
     "(morning|afternoon|evening)|as well|too|in turn|in the process|by "
     "accident|by mistake|along the way|on "
     "(monday|tuesday|wednesday|thursday|friday|saturday|sunday))"},
    {"first",
     "(at first|initially|originally|first|to begin with|to start with|to "
     "start|in the beginning|at the beginning|at the start|at the outset|at "
     "the beginning of the (story|day)|from the start|in the first "
     "place|once|once upon a time|one day|little|young|poor|clever|suppose "
     "[that]|imagine [that]|assume [that]|say [that]|(let us|let 's|let me) "
     "(say|suppose|assume|imagine) [that]|consider this|to begin|(we|you) know "
     "that|it is known that|in total|altogether|to (his|her|their) name|at the "
     "moment|so far|up to now|(on|last) "
     "(monday|tuesday|wednesday|thursday|friday|saturday|sunday)|before "
     "anything [else] (happens|happened)|@adverb)"},
    {"now",
     "(now|right now|currently|presently|at present|at the moment|left|left "
     "over|remaining|still|finally|eventually|ultimately|overall|at last|in "
     "the end|at the end|at the very end|at the end of the (story|day)|in "
     "total|in all|in sum|all in all|altogether|all together|by now|by the "
     "end|by the end of (it|it all|the day|the story)|at this point|at that "
     "point|by then|then|afterwards|afterward|after (all|all this|all that|all "
     "of this|all of that|all of these|this|that|everything|it all|these "
     "changes|those changes|the changes|all these changes|all the changes|all "
     "of these changes|these events)|when (all|everything) is (done|over|said "
     "and done)|today|at the conclusion|in the final count|when all is said "
     "and done)"},
    {"please",
     "([please] (tell|show) [me|us]|[please] (say|find|find "
     "out|calculate|compute|determine|work out|figure "
     "out|count|state|give|give me|report)|please|(can|could|would|will) you "
     "[please|kindly] (tell|show) [me|us]|(can|could|would|will) you "
     "[please|kindly] (say|find|find out|calculate|compute|determine|work "
     "out|figure out|count|give me)|(i|we) (want|need|would like|wish) to "
     "know|(i|we) (wonder|am wondering)|do you know|so|and|the question "
     "is|exactly|precisely|just)"},
    // Things and amounts.
    {"things",
     "([own|old|new|nice|shiny|beautiful|lovely|further|additional|single] "
     "$o|items|things|pieces|others|[new|other|more] ones|of them [all]|of "
     "these|of those|of it|[out] of (@whose|these|those|all the) "
     "[own|old|new|remaining] $o|out of (them|these|those|it))"},
    {"heap", "(pile|heap|stack|collection|hoard|stash|supply|set)"},
    {"pile", "[all of] (@whose|$S 's|this|that) @heap [of $o]"},
    {"all",
     "(them|they|it|them all|all of them|all [@whose|these|those] $o|@whose "
     "$o|(these|those) $o|all of (@whose|these|those) $o|@pile|everything|$o)"},
    {"new_things",
     "([own|old|new|nice|shiny|beautiful|lovely|further|additional|single] "
     "$o|items|things|pieces|others|[new|other|more] ones|[out] of @whose "
     "[own|old|new|remaining] $o)"},
    {"gift",
     "([herself|himself|themselves] [a total of|exactly|a further|an "
     "additional|an extra|some|another|a (gift|prize|present) of] ($x "
     "(more|extra|additional|further|new|other) [@things]|$x [@new_things] "
     "[more|extra]|(another|a further|an additional) $x [@things]))"},
    {"amount",
     "([a total of|exactly|another|as many as] $x [more|old] [@things])"},
    // What leads to the act that counts.
    {"aux",
     "((manage|manages|managed|decide|decides|decided|has|had|happen|happens|"
     "happened|choose|chooses|chose|(is|was|are|were) "
     "(able|forced|obliged|lucky enough|unlucky enough)|(has|had) the "
     "(luck|misfortune|good luck)) to|((is|was) "
     "(lucky|unlucky|happy|fortunate|unfortunate|careless|clumsy)|(has|had) "
     "(luck|bad luck|an accident)|(goes|went|walks|walked|travels|travelled) "
     "@where|(goes|went) to (the|a|an) $w "
     "[$w]|(falls|fell|slips|slipped|trips|tripped)|(wins|won|plays|played|"
     "enters|entered) [a|an|the] $w [$w]|(beats|beat) (@F|$w) [at [a|the] "
     "$w]|(takes|took) part in [a|an|the] $w [$w]|(makes|made) a "
     "(trade|swap|deal)) "
     "and|(end|ends|ended|finish|finishes|finished|(wind|winds|wound)) up)"},
    {"did",
     "[(has|have|had|'s|'ve) "
     "{just|already|also|now|then|since|recently|even|once again}]"},
    {"owns",
     "(has|have|had|own|owns|owned|possess|possesses|possessed|hold|holds|held|"
     "keeps|kept|'s got|has got|had got)"},
    {"box",
     "(box|bag|basket|jar|drawer|case|tin|chest|container|crate|bowl|sack)"},
    {"onto",
     "to (@pile|those (he|she|they) (has|have|had)|those (he|she|they) already "
     "(has|have|had)|it|them)"},
    // The same act with another amount.
    {"after_that",
     "(then|next|later|later "
     "on|afterwards|afterward|thereafter|subsequently|soon after|shortly "
     "after|after that|after this|finally|lastly)"},
    {"further",
     "[another|a further|an additional] $x [more|extra|additional|further] "
     "[@things]"},
    // Having.
    {"have",
     "[already] (has|have|had|has got|have got|'s got|had "
     "got|own|owns|owned|possess|possesses|possessed|hold|holds|held|keep|"
     "keeps|kept)"},
    {"start",
     "(start|starts|started|begin|begins|began) [off|out|the "
     "(day|week|game|story)] (with|by having|by owning|having|owning)"},
    // Getting and losing: said of the hero ...
    {"get",
     "@did "
     "(find|finds|found|discover|discovers|discovered|locate|locates|located|"
     "uncover|uncovers|uncovered|detect|detects|detected|unearth|unearths|"
     "unearthed|(come|comes|came) (across|upon)|(happen|happens|happened) "
     "upon|(stumble|stumbles|stumbled) "
     "(on|upon|across)|buy|buys|bought|purchase|purchases|purchased|acquire|"
     "acquires|acquired|obtain|obtains|obtained|get|gets|got|gotten|receive|"
     "receives|received|win|wins|won|earn|earns|earned|gain|gains|gained|(pick|"
     "picks|picked) "
     "up|collect|collects|collected|gather|gathers|gathered|add|adds|added|"
     "secure|secures|secured|(bring|brings|brought) "
     "home|(scoop|scoops|scooped) up|grab|grabs|grabbed|(dig|digs|dug) "
     "(up|out)|(fish|fishes|fished) "
     "out|order|orders|ordered|inherit|inherits|inherited|score|scores|scored|("
     "come|comes|came) (home|back|away|by) [with]|(turn|turns|turned) up "
     "with|(stumble|stumbles|stumbled) "
     "over|(take|takes|took|carry|carries|carried) home|(spend|spends|spent) "
     "@whose [$w] (money|savings|cash) on|(pay|pays|paid) "
     "for|(treat|treats|treated) (herself|himself|themselves) "
     "to|(gather|gathers|gathered|collect|collects|collected|save|saves|saved|"
     "snap|snaps|snapped|round|rounds|rounded|bag|bags|bagged) "
     "up|(spot|spots|spotted|see|sees|saw|notice|notices|noticed|find|finds|"
     "found|discover|discovers|discovered) and "
     "(keep|keeps|kept|take|takes|took|collect|collects|collected|grab|grabs|"
     "grabbed|pocket|pockets|pocketed|(pick|picks|picked) "
     "up)|snag|snags|snagged|nab|nabs|nabbed|pocket|pockets|pocketed|pick|"
     "picks|picked|harvest|harvests|harvested|pluck|plucks|plucked|salvage|"
     "salvages|salvaged|procure|procures|procured|glean|gleans|gleaned|fetch|"
     "fetches|fetched|reap|reaps|reaped|rescue|rescues|rescued|bake|bakes|"
     "baked|knit|knits|knitted|craft|crafts|crafted|(pull|pulls|pulled) "
     "out|accept|accepts|accepted|claim|claims|claimed|retrieve|retrieves|"
     "retrieved|recover|recovers|recovered|land|lands|landed|net|nets|netted|"
     "amass|amasses|amassed|accumulate|accumulates|accumulated|(stock|stocks|"
     "stocked) up on|(come|comes|came) into [the] possession "
     "of|(bring|brings|brought|rake|rakes|raked) in|(turn|turns|turned) "
     "up|(is|was|'s) (rewarded|gifted) "
     "with|finding|buying|winning|getting|receiving|earning|gaining|picking "
     "up|collecting|gathering|acquiring|obtaining|purchasing|discovering|(is|"
     "was|are|were|'s|has been|had been) "
     "(given|handed|gifted|awarded|passed|sent|brought|granted|dealt|presented "
     "with))"},
    {"getting",
     "(finding|buying|winning|getting|receiving|earning|gaining|collecting|"
     "gathering|acquiring|obtaining|purchasing|discovering|adding|ordering|"
     "picking up|digging up|found|bought|won|got|received|earned|gained)"},
    {"losing",
     "(losing|selling|dropping|breaking|discarding|misplacing|damaging|giving|"
     "handing|donating|(throwing|giving|tossing|trading) "
     "(away|out)|lost|sold|dropped|broken|discarded|given)"},
    {"from", "(from|by|thanks to) @F"},
    {"losing_verb",
     "(lose|loses|lost|misplace|misplaces|misplaced|mislay|mislays|mislaid|"
     "sell|sells|sold|(sell|sells|sold|trade|trades|traded|give|gives|gave|"
     "given|barter|barters|bartered) "
     "(away|off)|(throw|throws|threw|thrown|toss|tosses|tossed|chuck|chucks|"
     "chucked) "
     "(away|out|aside)|discard|discards|discarded|dump|dumps|dumped|(get|gets|"
     "got) rid of|(dispose|disposes|disposed) "
     "of|drop|drops|dropped|spill|spills|spilled|spilt|break|breaks|broke|"
     "broken|damage|damages|damaged|smash|smashes|smashed|crack|cracks|cracked|"
     "chip|chips|chipped|dent|dents|dented|bend|bends|bent|shatter|shatters|"
     "shattered|ruin|ruins|ruined|consume|consumes|consumed|devour|devours|"
     "devoured|swallow|swallows|swallowed|(munch|munches|munched|gobble|"
     "gobbles|gobbled|eat|eats|ate) "
     "up|use|uses|used|spend|spends|spent|pawn|pawns|pawned|peddle|peddles|"
     "peddled|shred|shreds|shredded|rip|rips|ripped|(rip|rips|ripped) "
     "up|tear|tears|tore|snap|snaps|snapped|squash|squashes|squashed|(leave|"
     "leaves|left) behind|(let|lets) go "
     "of|recycle|recycles|recycled|scatter|scatters|scattered|squander|"
     "squanders|squandered|toss|tosses|tossed|throw|throws|threw|(hand|hands|"
     "handed|pass|passes|passed|give|gives|gave|deal|deals|dealt|dole|doles|"
     "doled) out|(hand|hands|handed|turn|turns|turned) "
     "(over|in)|distribute|distributes|distributed|(cast|casts) "
     "(away|aside)|(finish|finishes|finished) "
     "off|destroy|destroys|destroyed|donate|donates|donated|(part|parts|parted)"
     " with|(tear|tears|tore|torn) "
     "up|bin|bins|binned|scrap|scraps|scrapped|trash|trashes|trashed|waste|"
     "wastes|wasted|remove|removes|removed|abandon|abandons|abandoned|"
     "sacrifice|sacrifices|sacrificed|wreck|wrecks|wrecked|crush|crushes|"
     "crushed|ditch|ditches|ditched|junk|junks|junked|forfeit|forfeits|"
     "forfeited|(give|gives|gave) "
     "up|fling|flings|flung|offload|offloads|offloaded|auction|auctions|"
     "auctioned|surrender|surrenders|surrendered|eat|eats|ate|(use|uses|used) "
     "up|burn|burns|burned|burnt|(lose|loses|lost) (track|sight) "
     "of|(can't|cannot|couldn't|can no longer|could no longer) "
     "find|(find|finds|found) a (buyer|taker) "
     "for|losing|selling|dropping|breaking|discarding|misplacing|mislaying|"
     "damaging|(throwing|giving|tossing|trading) (away|out))"},
    {"lose", "@did @losing_verb [and [then] @losing_verb]"},
    {"give",
     "@did (give|gives|gave|given|hand|hands|handed|(hand|hands|handed) "
     "(over|out)|pass|passes|passed|(pass|passes|passed) "
     "(on|over|along)|donate|donates|donated|gift|gifts|gifted|send|sends|sent|"
     "(give|gives|gave) "
     "away|sell|sells|sold|present|presents|presented|offer|offers|offered|"
     "transfer|transfers|transferred|award|awards|awarded|grant|grants|granted|"
     "deliver|delivers|delivered|mail|mails|mailed|slip|slips|slipped|ship|"
     "ships|shipped|post|posts|posted|bestow|bestows|bestowed|distribute|"
     "distributes|distributed|entrust|entrusts|entrusted|(deal|deals|dealt|"
     "dole|doles|doled|ship|ships|shipped|send|sends|sent) "
     "out|toss|tosses|tossed|contribute|contributes|contributed)"},
    // ... and of the things.
    {"got",
     "(ordered|inherited|dug up|dug "
     "out|found|discovered|located|bought|purchased|acquired|obtained|received|"
     "won|earned|gained|picked up|collected|gathered|added|secured|come "
     "across|scooped up)"},
    {"lost",
     "(consumed|devoured|swallowed|spent|used|torn|torn "
     "up|ripped|recycled|crushed|wrecked|auctioned off|auctioned|left "
     "behind|handed "
     "out|binned|scrapped|trashed|wasted|removed|abandoned|eaten|used "
     "up|burnt|missing|gone|lost|misplaced|mislaid|sold|sold off|traded "
     "away|given away|thrown away|thrown out|tossed out|tossed "
     "away|discarded|dumped|disposed "
     "of|dropped|spilled|spilt|broken|damaged|smashed|cracked|shattered|ruined|"
     "destroyed|donated)"},
    {"given",
     "(given|handed|handed over|passed|passed on|donated|gifted|sent)"},
    {"are", "(is|are|was|were|'s|get|gets|got|have been|has been|had been)"},
    // Times and parts.
    {"k", "(twice|double|thrice|triple|quadruple|$x times|$x times over|$x x)"},
    {"asmany",
     "(as many [@things] [as (before|earlier|previously|until "
     "then|(he|she|they) [previously|already] (has|have|had) "
     "[before|earlier|until then|previously])]|(the|that|this) "
     "(number|amount|quantity) [of $o] [@adverb]|that many|@whose "
     "(previous|old|earlier|former) (number|amount) [of $o]|what (he|she|they) "
     "(has|have|had) [before])"},
    {"groups",
     "[equal|even|identical|equally|evenly|same] [sized|large|big|size] "
     "(piles|heaps|stacks|bags|sacks|boxes|parts|portions|groups|shares|sets|"
     "bundles|pieces|lots|sections|mounds|bunches|batches|pouches|baskets|"
     "packs|packets|jars|halves|thirds)"},
    {"group",
     "(pile|heap|stack|bag|sack|box|part|portion|group|share|set|bundle|piece|"
     "lot|section|mound|bunch|batch|pouch|basket|pack|packet|jar)"},
    {"one",
     "[only|just|exactly] (one|1|a single one|a single @group|(one|1) [single] "
     "@group) [of (them|these|those|(the|these|those) @groups)] [for "
     "(herself|himself|themselves)]"},
    {"keep",
     "(keep|keeps|kept|keeping|retain|retains|retained|(hold|holds|held) (on "
     "to|onto)|save|saves|saved|is left with|are left with) @one"},
    {"and", "[and|but] [then] [of which]"},
    // Words that may stand anywhere in a sentence of one kind.
    {"any",
     "($v|$l|$o|$S|@whose|a|an|the|of|to|with|at|in|on|from|by|for|and|is|was|"
     "are|up|out|off|away|into|over|it|this|that|then|so|because|also|next|now|"
     "after|before|while|when|'s|there|very|through|where)"},
    // Behind an amount: not another thing, as in "finds 3 more marbles".
    {"after",
     "[(a|the|of|to|with|at|in|on|from|by|for|and|out|off|away|into|over|after|"
     "while|when|because|this|that|$l|@whose|through|up|so|also|then|now) "
     "{@any}]"},
    {"lead",
     "(hello|hi|hey|dear|please|kindly|thanks|thank|can|could|would|will|you|"
     "me|my|i|we|us|our|am|'m|'s|is|are|this|that|the|a|an|of|in|on|at|for|to|"
     "with|by|it|here|there|now|see|if|let|have|has|had|got|need|needs|want|"
     "like|ask|asked|tell|told|give|gave|given|get|goes|comes|read|consider|"
     "solve|try|answer|help|work|out|think|find|look|know|do|does|step|through|"
     "stuck|again|carefully|slowly|little|quick|simple|short|small|easy|hard|"
     "tricky|next|following|one|another|some|something|question|problem|puzzle|"
     "riddle|story|exercise|task|homework|maths|math|arithmetic|word|test|quiz|"
     "brain|teaser|teacher|mother|father|son|daughter|school|class|today|very|"
     "much|advance|lot|so|and|as|good|morning|afternoon|evening|your|attention|"
     "time|ready|go|begins|below|what|how|q|about|first|just|show|shows|"
     "explain|steps|reasoning|detail|details|result|reply|respond|number|only|"
     "digits|final|working|explanation|calculations|sure|appreciate|"
     "appreciated|cheers|grateful|kind|regards|be|do|guys|friends|everyone|"
     "everybody|folks|challenge|quickly|correctly|solution|by)"},
    {"ask",
     "(please|kindly|tell|show|say|find|out|work|calculate|compute|determine|"
     "figure|count|state|give|report|me|us|can|could|would|will|you|i|we|want|"
     "need|like|wish|wonder|know|to|do|so|and|then|the|that|is|'s|was|are|what|"
     "if|exactly|precisely|just|now|question|answer|here|comes|let|see|thus|"
     "therefore|in|all|total|end|at|of|by|finally|after|this|everything|it|"
     "happened|happens|these|changes|,|a)"},
    {"asked",
     "(do you think|would you "
     "say|$o|$S|'s|@now|items|things|pieces|the|that|this|these|those|them|"
     "their|his|her|of|in|at|to|for|with|by|is|are|was|were|be|been|do|does|"
     "did|has|have|had|got|having|will|would|can|could|call|own|owns|owned|"
     "holds|hold|possess|possesses|possession|hands|keep|keeps|kept|belong|"
     "belongs|left|leave|leaves|leaving|remain|remains|remaining|still|there|"
     "it|all|everything|happened|end|ends|ended|up|finish|finishes|final|stay|"
     "stays|day|story|total|and|please|@heap|@box|currently|exactly|altogether|"
     "say|a)"},
    {"many",
     "(how many|[what|which] [total|final|exact|resulting|current] "
     "(number|count|amount|quantity|size) of)"},
    {"times",
     "($S|$o|'s|@adverb|@heap|@whose|them|him|they|it|its|all|of|these|those|"
     "that|this|everything|lot|for|to|with|into|in|until|and|is|are|was|were|"
     "will|be|has|have|had|having|own|owns|gets|got|get|getting|receives|"
     "received|obtains|holds|finds herself|finds himself|finds "
     "themselves|found herself|found "
     "himself|ends|ended|end|up|finishes|leave|leaves|left|grow|grows|grew|"
     "grown|been|increases|increased|swells|rises|become|becomes|became|(that|"
     "which) "
     "(gives|gave)|trade|trades|traded|trading|swap|swaps|swapped|exchange|"
     "exchanges|exchanged|barters|bartered|makes a "
     "(trade|swap|deal)|number|amount|size|in a "
     "(trade|swap)|whole|reaches|reached|every|there|now|made|swap|that|as|"
     "many|large|big|high|one|former|previous|old|original|earlier|before|what|"
     "so|after|multiplied|in exchange|return)"},
    {"other",
     "((each|every) "
     "(day|morning|week)|$w|$F|$S|'s|a|an|the|his|her|their|its|this|that|"
     "another|of|in|on|at|by|to|for|from|with|before|after|until|over|is|are|"
     "was|were|has|have|had|left|became|last|week|been|be|just|it|there|about|"
     "up|also|then|now|will|does|doesn't|not|next|long|old|and)"},
    {"even",
     "(equal|even|identical|equally|evenly|fair|fairly|equal-sized|(of|with) "
     "[the] (equal|same) (height|length|size|sizes|number|numbers) [each|in "
     "each]|the same number [of $o] [each|in each|into each of|in each of])"},
    {"parts",
     "(piles|heaps|stacks|bags|sacks|boxes|parts|portions|groups|shares|sets|"
     "bundles|lots|sections|mounds|bunches|batches|pouches|baskets|packs|"
     "packets|jars|halves|thirds|ways)"},
    {"share",
     "($S|$o|@adverb|@heap|@whose|@parts|@even|what|has|owns|them|all|of|these|"
     "those|this|that|everything|it|up|out|and|but|with|from|into|in|among|"
     "between|over|to|by|make|makes|made|making|form|forms|formed|fill|fills|"
     "filled|filling|pack|packs|packed|prepare|prepares|use|uses|put|puts|sort|"
     "sorts|sorted|cut|cuts|cutting|split|splits|splitting|divide|divides|"
     "divided|dividing|separate|separates|separated|part|parts|distribute|"
     "distributes|distributed|arrange|arranges|arranged|lay|lays|break|breaks|"
     "broke|share|shares|shared|build|builds|built|create|creates|created|deal|"
     "deals|go|goes|is|are|was|were|size|each|having|equal|same|number)"},
    {"only",
     "{only|just|exactly|merely} (one|1|a single|a single one) [single] "
     "[(pile|heap|stack|bag|sack|box|part|portion|group|share|set|bundle|lot|"
     "section|mound|bunch|batch|pouch|basket|pack|packet|jar)] [of "
     "(them|these|those|[the|these|those] @parts)] [for "
     "(herself|himself|themselves)]"},
    {"keeps",
     "([of which|which] {and|but|then|only|just|$S} "
     "(keep|keeps|kept|keeping|retain|retains|retained|take|takes|took|save|"
     "saves|saved|(hold|holds|held) (on to|onto)|is left with) @only "
     "[(and|but|then) "
     "(gives|gave|throws|threw|sells|sold|donates|donated|hands|handed) (away "
     "the (rest|others|other @parts)|the (rest|others|other @parts) "
     "(away|out|to @F)|the (rest|others|other @parts))]|and "
     "((gives|gave|throws|threw) away all but @only|(sells|sold|loses|lost) "
     "all but @only)|(of which|and|but) {only|just} @only (is|was) "
     "(kept|retained|saved))"},
};

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_STORY_PHRASES_H_
