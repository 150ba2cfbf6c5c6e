"""English words that are not names of things: verbs, relations, quantities, positions, settings, fillers.

The catalogue names the things, colours and groups. Each table maps a meaning to the phrases that carry it.
"""

from __future__ import annotations


def _words(listed: str) -> tuple[str, ...]:
    """Phrases between commas."""
    return tuple(listed.split(", "))


VERBS: dict[str, tuple[str, ...]] = {
    "put": _words(
        "put, pop, plop, tuck, stuff, shove, place, move, set, stand, bring, drop, lay, transfer, insert, return, store, "
        "deliver, carry, put back, relocate, stow, put away, position, slide, load, leave, keep, gather, collect, stash, "
        "deposit, dump, hide, stick, drape, spread, put down, set down, lay down, place down, serve"
    ),
    "discard": _words("throw, toss, throw away, throw out, discard, dispose of, get rid of, chuck, trash"),
    "empty": _words("empty, empty out, clear out, unpack"),
    "take": _words("take, get, fetch, pick, grab, pick up"),
    "remove": _words("remove, take out, retrieve, extract, pull out, unload, take away"),
    "lift": _words("lift, lift up, raise, hold, hold up, elevate, hold up high, raise up"),
    "grasp": _words("grasp, grip, seize, clutch"),
    "scoop": _words("scoop, scoop up, scoop out, ladle, shovel"),
    "pour": _words("pour, pour out, tip, decant, tip out"),
    "fill": _words("fill, fill up, top up"),
    "squeeze": _words("squeeze, squish, squash, compress"),
    "cover": _words("cover, cover up"),
    "fold": _words("fold, fold up, fold over"),
    "hang": _words("hang, hang up"),
    "wipe": _words("wipe, wipe up, wipe off, wipe away, wipe down, scrub, scrub off, mop up, rub off, clean off"),
    "straighten": _words("straighten, straighten out, stretch, stretch out, pull straight, pull taut, pull tight"),
    "touch": _words("touch, tap, poke, push, press, nudge"),
    "open": _words("open, open up, pull open, slide open, swing open, pull, turn on"),
    "close": _words("close, shut, close up, push shut, push closed, shut up, slide shut, turn off"),
    "turn": _words("turn, twist, rotate, turn up"),
    "stack": _words(
        "stack, pile, stack up, pile up, build a tower of, build a tower from, build a tower out of, make a tower of, "
        "build a stack of"
    ),
    "contact": _words("make, have"),
    "hand": _words("hand, hand over, pass, pass over, give"),
    "tidy": _words("tidy, tidy up, clean up, clean, clear up, clear, clear off, clear away"),
}
BIN = "bin"
"""Where "throw it away" puts things: a category."""

HANDS: dict[str, tuple[str, ...]] = {
    "both": tuple(f"{both} {hand}s" for both in ("both", "both your", "two") for hand in ("hand", "arm", "gripper")),
    **{
        side: tuple(f"{to}{side} {hand}" for to in ("", "to the ") for hand in ("hand", "arm", "gripper"))
        for side in ("left", "right")
    },
}
"""Of a robot with two; with "to the", for "to the left" has a meaning of its own."""

PALM = _words("in the hand, in your hand, in its hand, in hand, in the palm, in your palm, in the robot's hand")
"""Where a thing lies that fingers turn."""
DEGREES = ("degrees", "degree", "°")
CLOCK = {
    "clockwise": ("clockwise",), "anticlockwise": _words("counterclockwise, counter-clockwise, anticlockwise, anti-clockwise"),
}  # fmt: skip
"""Which way something is turned, seen from above."""

RESULTS: dict[str, tuple[str, ...]] = {
    "open": _words("open"),
    "close": _words("closed, shut, close"),
    "upright": _words("upright"),
    "straighten": _words("straight, taut, tight"),
}
"""What "push it shut", "leave it open", "keep it upright" come to."""

SHARES: dict[str, tuple[str, ...]] = {
    "1": _words("all of, all"),
    "0.75": _words("three quarters of, three fourths of"),
    "0.5": _words("half of, half, one half of, a half of, the half of"),
    "0.25": _words("a quarter of, one quarter of, a fourth of, quarter of"),
}
"""How much of a liquid."""

RELATIONS: dict[str, tuple[str, ...]] = {
    "in": _words("in, into, inside, inside of, in to, within, in the inside of"),
    "on": _words("on, onto, on top of, on to, upon, atop, over onto, over, over the top of, onto the top of, on the top of"),
    "near": _words("next to, near, beside, by, close to, alongside, right next to, near to, adjacent to, by the side of"),
    "left": _words(
        "left of, to the left of, on the left of, at the left of, to the left side of, on the left side of, "
        "on the left-hand side of, to the left hand side of, just left of, immediately left of"
    ),
    "right": _words(
        "right of, to the right of, on the right of, at the right of, to the right side of, on the right side of, "
        "on the right-hand side of, to the right hand side of, just right of, immediately right of"
    ),
    "front": _words("in front of, in the front of, to the front of, right in front of, just in front of"),
    "behind": _words("behind, in back of, right behind, just behind, to the back of"),
    "between": _words("between, in between, midway between, halfway between, in the middle between, right between"),
    "to": _words("to, over to, towards, toward"),
    "from": _words("from, out of, off, off of, from inside, from the inside of, out from, from on top of, from off"),
}

ADVERBS: dict[str, tuple[str, ...]] = {
    "in": _words("inside, in, in there, inside there"),
    "on": _words("on top, on it there, on there"),
    "near": _words("nearby, alongside"),
    "from": _words("out, off"),
    "left": _words("to the left, on the left, on the left side, on the left-hand side, at the left, leftwards"),
    "right": _words("to the right, on the right, on the right side, on the right-hand side, at the right, rightwards"),
    "front": _words("in front"),
}
"""Relations said without naming what they are to."""

PARTS: dict[str, tuple[str, ...]] = {
    "drawer": _words("drawer"),
    "door": _words("door"),
    "compartment": _words("compartment, section"),
    "board": _words("shelf, board, level, rack, shelf board"),
}

POSITIONS: dict[str, tuple[str, ...]] = {
    "top": _words("top, upper, topmost, uppermost, highest"),
    "middle": _words("middle, central, center, centre"),
    "bottom": _words("bottom, lower, bottommost, lowermost, lowest"),
    "left": _words("left, left-hand, leftmost, left hand"),
    "right": _words("right, right-hand, rightmost, right hand"),
    "last": _words("last"),
    "1": _words("first, 1st"),
    "2": _words("second, 2nd"),
    "3": _words("third, 3rd"),
    "4": _words("fourth, 4th"),
}

SIZES: dict[str, tuple[str, ...]] = {
    "small": _words("small, little, tiny, smaller, mini"),
    "medium": _words("medium, medium-sized, mid-sized, normal, regular"),
    "large": _words("large, big, larger, bigger, huge"),
}

MATERIALS: dict[str, tuple[str, ...]] = {
    "wood": _words("wooden, wood"),
    "ceramic": _words("ceramic, porcelain, stoneware, china"),
    "glass": _words("glass"),
    "steel aluminium": _words("metal, metallic"),
    "steel": _words("steel, stainless, stainless steel"),
    "aluminium": _words("aluminium, aluminum"),
    "plastic": _words("plastic"),
    "cardboard": _words("cardboard"),
    "paper": _words("paper"),
    "wicker": _words("wicker, woven"),
    "stone": _words("stone, granite, marble"),
    "foam": _words("foam"),
    "chipboard": _words("chipboard"),
}

SUPERLATIVES: dict[str, tuple[str, ...]] = {
    "largest": _words("largest, biggest, larger, bigger"),
    "smallest": _words("smallest, littlest, tiniest, smaller"),
    "tallest": _words("tallest, taller"),
    "shortest": _words("shortest, shorter"),
    "leftmost": _words("leftmost"),
    "rightmost": _words("rightmost"),
    "nearest": _words("nearest, closest, nearer, closer"),
    "farthest": _words("farthest, furthest, farther, most distant"),
}
"""Which of several. What is bigger is the biggest only of things that are known ("the bigger mug")."""

QUANTIFIERS: dict[str, tuple[str, ...]] = {
    "each": _words("every, each, all, every single, each and every, all of, every one of, each of"),
    "2": _words("both, both of, a couple of, a pair of, couple of, pair of"),
    "some": _words("some, several, a few, few, some of, several of, a number of"),
    "everything": _words("everything, anything, all things, it all"),
}

NUMBERS: dict[str, tuple[str, ...]] = {
    str(value): (word, str(value))
    for value, word in enumerate(
        _words("zero, one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, thirteen, fourteen, fifteen")
    )
} | {"12": ("twelve", "dozen"), "20": ("twenty",), "100": ("hundred",)}
"""Words; other numbers are read from their digits."""
ARTICLES = _words("teh, the, the same, same, a, an, my, your, our, this, that, these, those, its, their")
REST = _words(
    "the rest, the rest of, the others, others, all the others, all others, the remaining, all the remaining, all the other, "
    "the remaining ones, all the rest, all the rest of"
)
"""All that are left."""
FRESH = (*_words("another, the other, other, one more, a second, a different, a new, new, else"), *REST)

KINDS = _words(
    "coffee, tea, soup, fruit, salad, wine, beer, water, kitchen, dinner, bread, cereal, toy, cooking, soda, juice, milk, "
    "office, serving, side, mixing, drinking, table, dessert, laundry, picnic, shopping, waste, rubbish, storage, espresso, "
    "steak, baking, breakfast, lunch, shoe, gift, cookie, candy, sugar, honey, pasta, rice, noodle, pencil, snack, travel, "
    "paring, carving, chef's, bread, story, comic, cook, sandwich, salt, spice, pickle, dog, cat, recycling, oven, baby"
)
"""What a thing is for, said before its name: it changes nothing here ("salad bowl")."""
PRONOUNS: dict[str, tuple[str, ...]] = {
    "it": _words("it, this, that"),
    "them": _words("them, they, these, those, all of them, both of them"),
}

ONES: dict[str, tuple[str, ...]] = {
    "one": _words("one, 1"),
    "ones": _words("ones"),
}

SETTINGS: dict[str, tuple[str, ...]] = {
    "kitchen": _words("kitchen"),
    "room": _words("room, living room, bedroom, house, home"),
    "tabletop": _words("tabletop, office, study, workspace, table top"),
}

CLUTTER: dict[str, tuple[str, ...]] = {
    "cluttered": _words("cluttered, messy, crowded, untidy, busy"),
    "tidy": _words("tidy, clean, empty, uncluttered, clear, neat, otherwise empty, bare"),
}
THEN = _words(
    "then, and then, after that, and after that, afterwards, next, finally, and finally, lastly, then finally, after which, "
    "later, once that is done, once done, when done, when that is done, after this, after doing so, having done that, "
    "once you are done, thereafter, subsequently"
)
AFTER = _words("after, after you, and after, only after, once you, once you have, after having, having")
BEFORE = _words("before, before you, but before, and before, prior to")
FIRST = _words("first, firstly, first of all, to begin with, start by, begin by, at first")
ORDERLY = _words("in that order, in this order, in the given order, in the order given, one after the other")
"""Said after a list of things: one after the other, as listed."""
AND = _words("and, as well as, plus, &, also, and also, but, while, whilst, yet")
FILLERS = _words(
    "in half, in two, "
    "please, pls, plz, pleas, now, robot, carefully, gently, slowly, quickly, can you, could you, would you, will you, "
    "i want you to, i would like you to, i'd like you to, you should, you need to, you must, try to, hey, hi, hello, kindly, "
    "go ahead and, just, for me, so, again, the task is to, your task is to, let 's, make sure to, i need you to, safely, "
    "completely, fully, all the way, neatly, back, away, up, down, ok, okay, thanks, thank you, using the gripper, "
    "with the gripper, using the arm, with one hand, there, once more, go, i want to, we need to, help me, help me to, "
    "me, together, at once, properly, straight, directly, can u, could u, would u, would you mind, do you mind, "
    "if you don't mind, if you can, if possible, if you please, be so kind as to, be so kind and, be so good as to, "
    "so kind as to, very much, so much, a lot, many thanks, thx, in advance, right now, immediately, asap, for us, sir, "
    "dear robot, alright, the robot should, the robot must, the robot has to, robot should, the arm should, the robot is to, "
    "you have to, you are to, how about, simply, quick, too, as well, also, somewhere, here, find, locate, look for, cheers, "
    "uh, um, er, hmm, well, i was thinking, i was thinking that, maybe you could, maybe, perhaps, you could, i think, you know, "
    "basically, actually, really, i guess, i suppose, for starters, at the end, in the end, at last, the gripper, be careful, "
    "take care, being careful, taking care, at all, whatever you do, in the process, in doing so, while doing so, "
    "while you do so, one by one, one at a time, if anything, afterward, use the gripper, use your gripper, use the arm, "
    "use your arm, use your hand, with your hand, of course, remember"
)
EXIST = _words(
    "there 's, there is, there are, there's, there are also, there is also, imagine, we have, you see, i have, you have, it has"
)
CONTAINING = _words("has, containing, holding, having, contains, holds")
WITH = ("with", *CONTAINING)
ABSENT = _words(
    "no, without, without any, not any, there is no, there are no, there are not any, with no, and no, nothing else, "
    "there is nothing else, with nothing else, and nothing else"
)
STILL = _words(
    "do not move, don't move, dont move, never move, not move, not to move, not moving, without moving, avoid moving, "
    "do not touch, don't touch, dont touch, never touch, not touch, not to touch, not touching, without touching, "
    "avoid touching, do not disturb, don't disturb, not to disturb, without disturbing, do not shift, don't shift, "
    "without shifting, do not bump into, don't bump into, without bumping into, without bumping, do not knock over, "
    "don't knock over, without knocking over, not to knock over, do not push, don't push, without pushing, do not displace, "
    "without displacing"
)
"""Before things: they are not to be moved."""
UNMOVED = _words(
    "where it is, where they are, where it stands, where it was, alone, in place, in its place, in their place, untouched, "
    "unmoved, still, stay put, stays put, exactly where it is, exactly where they are, right where it is, must not move, "
    "must not be moved, should not be moved, should not move, is not to be moved, are not to be moved, may not be moved, "
    "must not be touched, should not be touched, is not to be touched, are not to be touched, may not be touched, "
    "cannot be moved, must not be disturbed, mustn't move, mustn't be moved, shouldn't move, shouldn't be moved, can't be moved"
)
"""After things: they are not to be moved."""
STAY = _words(
    "stays, stay, should stay, must stay, has to stay, have to stay, remains, remain, should remain, must remain, "
    "needs to stay, is to stay, are to stay, is to remain, ought to stay, should be left, must be left, should be kept, "
    "must be kept"
)
"""Between things and how or where they are to remain."""
FORBID: dict[str, tuple[str, ...]] = {
    "close": _words("do not open, don't open, dont open, never open, not open, not to open, without opening, avoid opening"),
    "open": _words(
        "do not close, don't close, dont close, never close, not close, not to close, without closing, do not shut, don't shut, "
        "dont shut, never shut, not shut, without shutting"
    ),
    "spill": tuple(
        f"{never}{what}"
        for never in _words(
            "without spilling, do not spill, don't spill, dont spill, never spill, not spill, not to spill, not spilling, "
            "avoid spilling, without losing, do not lose, don't lose"
        )
        for what in ("", " any", " any of", " a drop", " a drop of", " anything", " a single drop", " a single drop of")
    ),
}
"""What is to be so at the end where the opposite is forbidden; `spill`: what is forbidden."""
USE = _words("use, using, by using, making use of, make use of")
LEAST = _words(
    "with no fewer than, with no less than, at least, no fewer than, no less than, not fewer than, a minimum of, or more"
)
WANT = _words(
    "i want, i'd like, i would like, i need, i'd love, i would love, we want, we need, let me have, make sure, make sure that, "
    "ensure, ensure that, see to it that, be sure that, be sure"
)
"""Before things and where they are to be: "I want the mug on the plate"."""
OUGHT = _words(
    "should be, should go, should end up, must be, must go, needs to be, need to be, has to be, have to be, needs to go, "
    "need to go, has to go, have to go, ought to be, belongs, belong, goes, to be, should be put, should be placed, must end up"
)
"""Between things and where they are to be: "the mug should be on the plate"."""

EXCEPT = _words("except, except for, apart from, excluding, other than, leaving out, save for, not including")
"""Between a group and what it leaves out."""
FOR = ("for",)
"""Between what is to be used and what is to go there."""

BEYOND: dict[str, tuple[str, ...]] = {
    "what is not to be done cannot be told: say only what is to be done": _words(
        "don't, dont, do not, never, not to, not, avoid, without dropping, instead of, anywhere but, rather than, unless"
    ),
    "a choice cannot be left open: say the one that is meant": _words("or, nor, either, whichever, whatever, any of"),
    "conditions cannot be told: say what is to be done in any case": _words("if, whether, when, until, as long as, once"),
    "there is no such relation yet: say on, in, next to, left of, right of, in front of, behind or between": _words(
        "under, underneath, below, beneath, above, around, opposite, across from, forward, backward, forwards, backwards, "
        "far from, away from, as far as possible from"
    ),
    "there is no skill for it yet: things can be put, stacked, lifted, grasped, opened and closed": _words(
        "fold, unfold, wipe, wash, rinse, cut, slice, chop, cook, boil, fry, bake, stir, shake, rotate, flip, "
        "flip over, spin, twist, turn, turn on, turn off, turn over, turn around, upside down, switch, switch on, switch off, "
        "screw, unscrew, plug in, unplug, hang, hang up, peel, scrub, sweep, vacuum, heat, heat up, warm up, write, draw, "
        "paint, wrap, sew, roll, kick, cover, feed, eat, drink, dance, sing"
    ),
    "there is nobody to hand things to: say where to put them": _words("give, hand, hand over, pass"),
    "such an order cannot be told yet: say for each thing where it goes": _words(
        "swap, exchange, sort, arrange, rearrange, organize, organise, line up, align, set the table, lay the table, "
        "set a table, in a row, in a line, in a circle, in order, in reverse order, by color, by colour, by size, "
        "the positions of"
    ),
}
"""Words that are understood but ask for what cannot be done, by the reason why."""
NOT_NEEDED = _words(
    "are not needed, is not needed, aren't needed, isn't needed, not needed, are not required, is not required, are unnecessary"
)
BE = _words(
    "is, 's, that 's, are, which is, that is, which are, that are, starts, start, starts out, is standing, is lying, are lying, "
    "sits, stands, lying, standing, sitting, placed, located, is placed, stored, is sitting, are sitting, are standing, "
    "currently, which stands, that stands, that lies, which lies, that sits, which sits, lies, of which is, of which are, was, "
    "were"
)
