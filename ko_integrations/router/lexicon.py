"""Word classes the router's cues look for: small closed lists, not a vocabulary of topics.

A class joins words that say the same about *intent*: "should" and "ought" ask for an opinion, "poem" and
"limerick" for a text, "email" and "population" for a value. They let a few hundred training queries speak for
words that none of them holds.
"""

from typing import Final

__all__ = ["CLASSES", "CONTRACTIONS", "PREPOSITIONS", "QUANTITY_ADJECTIVES", "VERB_CLASSES"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What chat and search logs write for the word they mean.
CONTRACTIONS: Final[dict[str, str]] = {
    "what's": "what is", "whats": "what is", "wats": "what is", "wat": "what", "wut": "what", "what're": "what are",
    "who's": "who is", "whos": "who is", "where's": "where is", "wheres": "where is", "when's": "when is",
    "whens": "when is", "how's": "how is", "hows": "how is", "why's": "why is", "which's": "which is",
    "that's": "that is", "thats": "that is", "it's": "it is", "there's": "there is", "let's": "let us",
    "lets": "let us", "i'm": "i am", "im": "i am", "i'd": "i would", "i've": "i have", "ive": "i have",
    "you're": "you are", "youre": "you are", "ur": "your", "u": "you", "r": "are",
    "isn't": "is not", "isnt": "is not", "aren't": "are not", "don't": "do not", "dont": "do not",
    "doesn't": "does not", "doesnt": "does not", "didn't": "did not", "didnt": "did not", "can't": "can not",
    "cant": "can not", "cannot": "can not", "won't": "will not", "wont": "will not", "wouldn't": "would not",
    "shouldn't": "should not", "shouldnt": "should not", "wasn't": "was not", "weren't": "were not",
    "hasn't": "has not", "haven't": "have not", "pls": "please", "plz": "please", "gimme": "give me",
    "lemme": "let me", "wanna": "want to", "gonna": "going to", "tmrw": "tomorrow", "yr": "year",
    "diff": "difference", "thx": "thanks", "vs.": "vs", "versus": "vs", "smth": "something", "rn": "now",
}  # fmt: skip

QUANTITY_ADJECTIVES: Final = _words(
    "many much long old far tall high big large deep wide heavy fast often late early soon hot cold thick small "
    "short loud strong expensive close near frequently hard"
)

PREPOSITIONS: Final = _words(
    "in of for to by on at from with during between under after before into about over than as per like"
)

CLASSES: Final[dict[str, frozenset[str]]] = {
    "asks for a text": _words(
        "poem poems poetry haiku limerick sonnet story stories tale fable novel song songs lyrics rap jingle essay "
        "essays script dialogue monologue speech toast joke jokes riddle riddles pun puns slogan slogans tagline caption captions "
        "headline headlines letter email blog article paragraph paragraphs diary eulogy verse rhyme scene screenplay playlet "
        "bio ballad ode acrostic lullaby mnemonic tweet post posts advert ad "
        "chapter outline intro introduction abstract presentation newsletter memo vows metaphor sketch skit quiz "
        "parody prompt prompts message messages fanfic fiction narrative plot itinerary"
    ),
    "verb of making": _words(
        "write compose draft create invent generate craft design produce pen imagine make build develop brainstorm "
        "devise formulate construct prepare tell sing paint draw continue finish complete come think put turn "
        "rewrite rephrase paraphrase reword translate edit proofread improve polish shorten simplify convert change "
        "fix refactor debug implement optimise optimize code program add transform revise expand correct format "
        "adapt organise organize structure combine arrange record perform narrate conjure fabricate script storyboard "
        "retell reimagine rework refine enhance modify replace insert remove categorize classify"
    ),
    "verb of explaining": _words(
        "explain describe discuss elaborate illustrate outline clarify interpret analyse analyze summarise summarize "
        "define teach compare contrast evaluate critique assess review argue debate defend justify persuade convince "
        "refute examine explore reflect comment recap condense distinguish differentiate demonstrate prove walk guide "
        "break eli5 tldr recommend suggest advise help propose plan weigh rank criticize criticise respond consider "
        "solve simulate investigate predict deduce reason understand show explore unpack sum calculate rate explaining "
        "explained sketch share offer provide"
    ),
    "verb of looking up": _words(
        "find list name identify state retrieve fetch recall check confirm look lookup locate get specify enumerate "
        "remind read pull display search report verify"
    ),
    "role-play": _words(
        "act acting pretend roleplay role-play persona impersonate assume imagine suppose role character embody "
        "channel hypothetically simulate portray roleplaying"
    ),
    "advice": _words(
        "advice advise recommend recommendation recommendations recommended suggest suggestion suggestions tip tips "
        "trick tricks hack hacks idea ideas guide tutorial steps ways strategy strategies strategic help inspiration "
        "inspire motivate motivation encouragement feedback solution solutions recipe recipes checklist examples plan "
        "plans planning itinerary roadmap schedule lesson activities themes topics questions prompts techniques "
        "improve avoid overcome handle deal cope learn hints pointers beginner beginners methods remedy remedies"
    ),
    "comparison": _words(
        "difference differences differ differs different compare compared comparison comparing vs contrast similarity "
        "similarities similar pros cons advantage advantages disadvantage disadvantages benefits drawbacks rather "
        "better worse alternatives alternative trade-offs tradeoffs prefer strengths weaknesses healthier merits "
        "superior inferior distinguish distinction downsides upsides"
    ),
    "definition": _words(
        "define definition definitions meaning meanings mean means meant concept term terms notion etymology "
        "significance symbolism symbolize interpretation essence theory principle philosophy synonym explanation"
    ),
    "modal of opinion": _words("should ought must would could might may shall"),
    "judgement": _words(
        "good bad best worst better worse great greatest right wrong fair unfair ethical unethical moral immoral "
        "justified justifiable acceptable worth worthwhile necessary beneficial harmful dangerous safe important "
        "useful useless overrated underrated effective successful stupid smart beautiful ugly cool coolest evil "
        "legitimate valid true truth real really actually ever-changing sustainable compatible inevitable possible "
        "impossible realistic rational irrational racist sexist biased corrupt superior inferior responsible "
        "irresponsible oppressive outdated obsolete relevant irrelevant hypocritical nice awesome "
        "funniest healthy unhealthy interesting boring fun enjoyable satisfying perfect reasonable suitable "
        "appropriate inappropriate controversial biggest plausible convincing credible crazy weird normal okay ok "
        "illusion myth hoax scam threat hero villain waste innate overpopulated gay natural unnatural selfish "
        "genuine proper productive counterproductive problem problematic mandatory compulsory "
        "affordable peaceful decent reliable trustworthy capable viable feasible guilty innocent "
        "objective subjective absolute meaningless pointless sinful barbaric cruel inhumane"
    ),
    "contested subject": _words(
        "god gods religion religious christianity christian christians islam muslim muslims atheism atheist atheists "
        "atheism jesus bible faith soul heaven hell sin morality morals ethics abortion euthanasia feminism feminist "
        "racism racist gender transgender homosexuality marriage censorship capitalism socialism communism democracy "
        "anarchy freedom liberty rights equality privilege guns war terrorism torture immigration immigrants welfare "
        "taxes healthcare climate evolution creationism vaccines vegan veganism meat drugs marijuana prostitution "
        "pornography trump obama biden hitler brexit monarchy police protest gentrification globalization "
        "technology ai robots internet media society humanity humans mankind people life death love happiness "
        "money culture art education schools school homework students teachers children kids parents women men "
        "consciousness universe reality existence truth aliens ghosts astrology bitcoin zoos sports violence "
        "crime justice punishment prison government governments politicians politics republicans democrats "
        "liberals conservatives nationalism patriotism history science knowledge philosophy nature environment"
    ),
    "effect asked": _words(
        "affect affects affected impact impacts influence influenced influences effect effects cause causes caused "
        "lead leads led contribute consequences implications role relationship importance shape shaped happens "
        "happen work works function functions made formed process reason reasons purpose evolve evolved change "
        "changed develop relate benefit symbolize matter"
    ),
    "about oneself": _words("i my me mine we our us myself"),
    "the listener": _words("you your yours yourself"),
    "a feeling": _words(
        "feel feeling feels feelings sad happy lonely bored nervous tired stuck stressed anxious worried hate love "
        "like scared angry afraid depressed excited hurt miss wish hope want need struggling overwhelmed jealous"
    ),
    "value asked": _words(
        "email mail phone telephone number address birthday birthdate birthplace age height weight length width depth "
        "size area population capital currency price cost salary balance budget name surname nickname title job "
        "employer date year month day time deadline code pin password zip postcode zipcode iban id version status "
        "colour color language languages nationality ceo founder president king queen mayor author director "
        "winner singer actor actress cast wife husband spouse father mother son daughter brother sister parents "
        "distance temperature speed score rate percentage percent capacity frequency dose dosage total count "
        "headquarters hq location hours gate seat room floor port ip serial isbn sku model brand owner manager "
        "team school university country city state county continent river mountain ocean symbol formula "
        "boiling melting density elevation gdp net-worth worth release episode episodes season seasons album "
        "chapter verse page birth born died founded located spelled called abbreviation acronym flag anthem "
        "dialing area-code timezone zone weather forecast rent fee fare fine tax due invoice order tracking "
        "extension contact allergies allergy medication diagnosis license licence plate username login birthdays "
        "genre species breed element planet river airport station channel network record medal prize award stadium"
    ),
    "superlative of fact": _words(
        "first last largest smallest biggest tallest longest shortest highest lowest oldest youngest deepest fastest "
        "slowest hottest coldest latest newest earliest closest nearest richest heaviest second third only main most "
        "official current currently former previous original next final initial total average maximum minimum annual"
    ),
    "word of time": _words(
        "when date year years month months day days century decade ago before after during until since today tomorrow "
        "yesterday tonight now currently latest recent recently january february march april june july august "
        "september october november december monday tuesday wednesday thursday friday saturday sunday week weeks "
        "hours minutes hour minute"
    ),
    "relation of fact": _words(
        "same part member members located based allowed considered belong belongs named known called founded born "
        "invented discovered directed wrote written painted composed starred plays played won win wins lost married "
        "died built signed released owned owns founder own stands stand spoken borders border host hosted hosts "
        "elected appointed replaced succeeded preceded filmed set published recorded sang sings wear qualify die "
        "live lives lived killed happened require required eligible legal illegal count contain contains "
        "include includes made air airs airing available cover covers accept renewed canceled cancelled"
    ),
    "quality wished for": _words(
        "creative clever fun funny witty charming elegant graceful polite catchy memorable cute gentle romantic "
        "imaginative original surprising poetic rhyming playful whimsical dramatic epic emotional inspiring inspirational "
        "heartfelt touching persuasive engaging captivating vivid sarcastic silly spooky scary magical fictional "
        "humorous hilarious sweet warm kind tactful diplomatic professional casual friendly concise simple easy quick "
        "smart exciting beautiful unique unusual compelling powerful motivational thoughtful sincere smooth"
    ),
    "lesson or change": _words(
        "lesson lessons learn teach teaches moral takeaway takeaways message become becomes becoming turn turns feel "
        "felt seem seems mean means matter matters deserve deserves owe owes count counts rather possibly could "
        "someone somebody everyone everybody nobody people we us"
    ),
    "word of record": _words(
        "eat eats drink drinks speak speaks smoke smokes own owns drive drives swim swims ride rides move moves moved "
        "pay pays paid sign signed come comes came attend attends attended book booked return returned arrive arrived "
        "leave left sell sold buy bought renew renewed register registered send sent ship shipped deliver delivered "
        "train teach teaches study studied graduate graduated work works worked hire hired retire retired rent rents "
        "reply replied call called meet met join joined change changed stay stayed keep keeps use uses take takes "
        "border orbit vegetarian vegan diabetic allergic married divorced single engaged pregnant insured open closed "
        "available blocked active assigned booked due encrypted resolved twin twins cousin cousins sibling siblings "
        "neighbour neighbours neighbor neighbors colleague colleagues roommate nephew niece aunt uncle grandmother "
        "grandfather appointment meeting contract lease invoice order ticket subscription policy warranty flight"
    ),
    "kind of thing": _words(
        "movie movies film films show shows series season seasons episode game games book books song songs album band "
        "team teams nfl nba mlb nhl fifa olympics cup league player players netflix disney tv state states us usa uk "
        "canada california texas florida england australia india ireland scotland europe license passport visa card "
        "cell cells blood bone bones muscle nerve disease virus bacteria acid water dog dogs cat cats bird birds fish "
        "animal animals plant plants tree fruit vegetable cheese milk meat insurance bank car cars airport"
    ),
    "negation of fact": _words("still ever yet anymore already any there"),
    "a task's material": _words(
        "following above below sentence paragraph text passage code function algorithm class html css javascript python java "
        "sql regex query bash script c++ equation integral derivative triangle probability solve solution assume "
        "suppose given if step-by-step table json csv bullet words format list output input response answer "
        "characters tone style"
    ),
}

VERB_CLASSES: Final = ("verb of making", "verb of explaining", "verb of looking up", "role-play")
