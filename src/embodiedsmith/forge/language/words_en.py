"""English words that are not names of things: verbs, relations, quantities, positions, settings, fillers.

The catalogue names the things, colours and groups. Each table maps a meaning to the phrases that carry it.
"""

VERBS: dict[str, tuple[str, ...]] = {
    "put": ("put", "place", "move", "set", "bring", "drop", "lay", "transfer", "insert", "return", "store", "deliver",
            "carry", "put back", "relocate", "stow", "throw", "toss", "put away", "position", "slide", "load", "leave", "keep",
            "gather", "collect", "stash", "deposit", "dump"),
    "take": ("take", "get", "fetch", "pick", "grab", "pick up"),
    "remove": ("remove", "take out", "retrieve", "extract", "pull out", "unload", "take away"),
    "lift": ("lift", "lift up", "raise", "hold", "hold up", "elevate", "hold up high", "raise up"),
    "grasp": ("grasp", "grip", "seize", "clutch"),
    "touch": ("touch", "tap", "poke", "push", "press", "nudge"),
    "open": ("open", "open up", "pull open", "slide open", "swing open", "pull"),
    "close": ("close", "shut", "close up", "push shut", "push closed", "shut up", "slide shut"),
    "stack": ("stack", "pile", "stack up", "pile up"),
    "tidy": ("tidy", "tidy up", "clean up", "clean", "clear up"),
}  # fmt: skip

RESULTS: dict[str, tuple[str, ...]] = {"open": ("open",), "close": ("closed", "shut", "close"), "upright": ("upright",)}
"""What "push it shut", "leave it open", "keep it upright" come to."""

RELATIONS: dict[str, tuple[str, ...]] = {
    "in": ("in", "into", "inside", "inside of", "in to", "within", "in the inside of"),
    "on": ("on", "onto", "on top of", "on to", "upon", "atop", "over onto", "onto the top of", "on the top of"),
    "near": (
        "next to",
        "near",
        "beside",
        "by",
        "close to",
        "alongside",
        "right next to",
        "near to",
        "adjacent to",
        "by the side of",
    ),
    "to": ("to", "over to", "towards", "toward"),
    "from": ("from", "out of", "off", "off of", "from inside", "from the inside of", "out from", "from on top of", "from off"),
}

ADVERBS: dict[str, tuple[str, ...]] = {
    "in": ("inside", "in", "in there", "inside there"),
    "on": ("on top", "on it there", "on there"),
    "near": ("nearby", "alongside"),
    "from": ("out", "off"),
}
"""Relations said without naming what they are to."""

PARTS: dict[str, tuple[str, ...]] = {
    "drawer": ("drawer",),
    "door": ("door",),
    "board": ("shelf", "board", "level", "rack", "shelf board"),
}

POSITIONS: dict[str, tuple[str, ...]] = {
    "top": ("top", "upper", "topmost", "uppermost", "highest"),
    "middle": ("middle", "central", "center", "centre"),
    "bottom": ("bottom", "lower", "bottommost", "lowermost", "lowest"),
    "left": ("left", "left-hand", "leftmost", "left hand"),
    "right": ("right", "right-hand", "rightmost", "right hand"),
    "last": ("last",),
    "1": ("first", "1st"),
    "2": ("second", "2nd"),
    "3": ("third", "3rd"),
    "4": ("fourth", "4th"),
}

SIZES: dict[str, tuple[str, ...]] = {
    "small": ("small", "little", "tiny", "smaller", "mini"),
    "medium": ("medium", "medium-sized", "mid-sized", "normal", "regular"),
    "large": ("large", "big", "larger", "bigger", "huge"),
}

MATERIALS: dict[str, tuple[str, ...]] = {
    "wood": ("wooden", "wood"),
    "ceramic": ("ceramic", "porcelain", "stoneware", "china"),
    "glass": ("glass",),
    "steel aluminium": ("metal", "metallic"),
    "steel": ("steel", "stainless", "stainless steel"),
    "aluminium": ("aluminium", "aluminum"),
    "plastic": ("plastic",),
    "cardboard": ("cardboard",),
    "paper": ("paper",),
    "wicker": ("wicker", "woven"),
    "stone": ("stone", "granite", "marble"),
    "foam": ("foam",),
    "chipboard": ("chipboard",),
}

QUANTIFIERS: dict[str, tuple[str, ...]] = {
    "each": ("every", "each", "all", "every single", "each and every", "all of", "every one of", "each of"),
    "2": ("both", "both of", "a couple of", "a pair of", "couple of", "pair of"),
    "some": ("some", "several", "a few", "few", "some of", "several of", "a number of", "the rest of"),
    "everything": ("everything", "all things", "it all"),
}

NUMBERS: dict[str, tuple[str, ...]] = {
    str(value): (word, str(value))
    for value, word in enumerate(("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), start=1)
}

ARTICLES = ("the", "a", "an", "my", "your", "our", "this", "that", "these", "those", "its", "their")
FRESH = ("another", "the other", "other", "one more", "a second", "a different", "a new", "new")
PRONOUNS: dict[str, tuple[str, ...]] = {
    "it": ("it", "this", "that"),
    "them": ("them", "they", "these", "those", "all of them", "both of them"),
}
ONES: dict[str, tuple[str, ...]] = {"one": ("one", "1"), "ones": ("ones",)}

SETTINGS: dict[str, tuple[str, ...]] = {
    "kitchen": ("kitchen",),
    "room": ("room", "living room", "bedroom", "house", "home"),
    "tabletop": ("tabletop", "office", "study", "workspace", "table top"),
}
CLUTTER: dict[str, tuple[str, ...]] = {
    "cluttered": ("cluttered", "messy", "crowded", "untidy", "busy"),
    "tidy": ("tidy", "clean", "empty", "uncluttered", "clear", "neat", "otherwise empty", "bare"),
}

THEN = (
    "then",
    "and then",
    "after that",
    "afterwards",
    "next",
    "finally",
    "and finally",
    "lastly",
    "then finally",
    "after which",
    "later",
)
AND = ("and", "as well as", "plus", "&", "also", "and also")
FILLERS = ("please", "now", "robot", "carefully", "gently", "slowly", "quickly", "can you", "could you", "would you", "will you",
           "i want you to", "i would like you to", "i'd like you to", "you should", "you need to", "you must", "try to", "hey", "hi", "hello",
           "kindly", "go ahead and", "just", "first", "for me", "so", "again", "the task is to", "your task is to", "let's", "make sure to", "i need you to",
           "safely", "completely", "fully", "all the way", "neatly", "back", "away", "up", "down", "ok", "okay", "thanks", "thank you",
           "using the gripper", "with the gripper", "using the arm", "with one hand", "there", "once more", "over", "go", "begin by", "start by",
           "i want to", "we need to", "help me", "help me to", "me", "together", "at once", "properly", "straight", "directly")  # fmt: skip
EXIST = (
    "there is",
    "there are",
    "there's",
    "there are also",
    "there is also",
    "imagine",
    "we have",
    "you see",
    "i have",
    "you have",
    "it has",
)
WITH = ("with", "has", "containing", "holding", "having", "contains", "holds")
ABSENT = ("no", "without", "without any", "not any", "there is no", "there are no", "there are not any", "with no", "and no")
NOT_NEEDED = (
    "are not needed",
    "is not needed",
    "aren't needed",
    "isn't needed",
    "not needed",
    "are not required",
    "is not required",
    "are unnecessary",
)
BE = ("is", "are", "which is", "that is", "which are", "that are", "starts", "start", "starts out", "is standing", "is lying", "are lying", "sits", "stands",
      "lying", "standing", "sitting", "placed", "located", "is placed", "stored", "is sitting", "are sitting", "are standing", "currently")  # fmt: skip
