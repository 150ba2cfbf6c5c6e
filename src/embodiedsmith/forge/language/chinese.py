"""The Chinese grammar: tokens to a `Meaning`.

brief  = {clause}
clause = [从 place] (把 things [从 place] verb | verb things | things verb) [place] | things 在 place | 有 things
       | 不要移动 things | 用 thing | 至少有 number things | 让 things 开着
Things and places are read by `chinese_things`.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal, cast

from embodiedsmith.forge.language.chinese_things import HEADS, LOOKS, Things
from embodiedsmith.forge.language.clauses import Draft, has_inside, of_it, place_of_surface
from embodiedsmith.forge.language.cursor import Cursor, Stuck
from embodiedsmith.forge.language.english_deeds import HELD, OTHER, in_hands
from embodiedsmith.forge.language.lexer import Token
from embodiedsmith.forge.language.meaning import Action, Command, Meaning, NounPhrase, Place, Relation, Statement
from embodiedsmith.forge.language.words_en import BIN
from embodiedsmith.forge.language.words_zh import INSIDE, MOVED

_NOT_TO_DO = "what is not to be done cannot be told, but for what is not to be moved: say only what is to be done"


class Chinese:
    """Reads one Chinese brief."""

    def __init__(self, tokens: list[Token]) -> None:
        self.cursor = Cursor(tokens)
        self.draft = Draft(language="zh")
        self.things = Things(self.cursor, self.draft)
        self.then = self.first = False
        self.share = 1.0
        """How much of a liquid was said to be meant."""
        self.palm = self.clockwise = False
        """Whether what comes next lies in the hand, and whether it is turned clockwise: 把手里的方块顺时针旋转90度."""
        self.hand: str | None = None
        """The hand that was said to do what comes next, or to hold it now: 用左手, 从左手."""
        self.postponed: list[Command] = []
        """What is to be done after the rest of its sentence: 关上抽屉之前, ...."""

    def read(self) -> Meaning:
        """The brief's meaning; raises `Stuck` where the grammar cannot go on."""
        while not self.cursor.done:
            if self.cursor.take("then"):
                self.then = True
            elif self.cursor.take("first"):
                self.first = True
            elif not self._separator():
                before = self.cursor.at
                self._clause()
                if self.cursor.at == before:
                    raise self.cursor.stuck("has no place here")
        self._do_postponed()
        return self.draft.finish()

    def _separator(self) -> bool:
        if self.cursor.sees("verb", "still"):
            return False
        token = self.cursor.take("and", "comma", "stop", "filler", "so_that")
        if token is not None and token.has("stop"):
            self._do_postponed()
        return token is not None

    def _do_postponed(self) -> None:
        for command in self.postponed:
            self.draft.add(replace(command, then=True))
        self.postponed = []

    def _clause(self) -> None:
        if self.cursor.take("still"):
            self._still()
        elif self.cursor.sees("forbid"):
            self._forbidden(())
        elif self.cursor.take("to"):  # 给杯子倒水
            self.draft.pending_place = self.things.place("in")
        elif self.cursor.sees("absent", "not_needed"):
            self._absent()
        elif self.cursor.sees("ba") and not self.cursor.sees("verb"):
            self.cursor.take("ba")
            self._moved()
        elif self.cursor.take("from"):
            self.draft.pending_source = self._place_target()
        elif self.cursor.take("use"):
            self._used()
        elif self._least_here():
            self._at_least()
        elif self.cursor.sees("at"):
            self._set_scene()
        elif self.cursor.sees("exist") and not self.cursor.sees("verb"):
            self.cursor.take("exist")
            self._existing(self._scene_place())
        elif self.cursor.sees("place") and self.cursor.sees("exist", "least", ahead=1):  # 上面有 ...
            self.cursor.at += 1
        elif self.cursor.sees("verb") and not self.cursor.sees("clutter"):
            self._command(())
        elif self._upright_here():
            self.cursor.take("result")
            self.draft.add(Command(action="upright", word="竖直", then=self._took_then()))
        else:
            self._described()

    # What is not to be

    def _absent(self) -> None:
        start = self.cursor.at
        self.cursor.take("absent", "not_needed")
        if self.cursor.take("ba") and self.things.at_thing():  # 不要把盘子移开
            things, verb = self.things.things(), self.cursor.peek()
            self.cursor.at += 1
            if verb is not None and verb.has("spilt"):  # 不要把水洒出来
                self._add(Command(action="spill", word=verb.text, themes=things, keep=True))
                return
            if verb is not None and verb.text in MOVED and not (self.cursor.sees("at") or self.things.at_thing()):
                self._keep_still(things, self.cursor.text(start))
                return
            self.cursor.at -= 1
        if self.cursor.at > start + 1 or self.cursor.sees("ba", "verb", "filler", "not_needed"):
            raise Stuck(self.cursor.text(start).replace(" ", ""), _NOT_TO_DO)
        if self.cursor.sees(*HEADS, *LOOKS, "quantifier", "number"):
            self.draft.absent.extend(self.things.things())

    def _still(self) -> None:
        """不要移动盘子: what was named before it, or what comes after."""
        verb = self.cursor.text(self.cursor.at - 1)
        if not self.things.at_thing():
            raise Stuck(verb, "say which things are not to be moved")
        self._keep_still(self.things.things(), verb)

    def _forbidden(self, things: tuple[NounPhrase, ...]) -> None:
        """不要洒出水, 不要洒出来, 水不要洒出来: what is not to come about."""
        token = self.cursor.take("forbid")
        sense = token.sense("forbid") if token else None
        assert token is not None and sense is not None
        self.cursor.skip("filler")
        things = things or (self.things.things() if self.things.at_thing() else ())
        self._add(Command(action=cast(Action, sense.value), word=token.text, themes=things, keep=True))

    def _keep_still(self, things: tuple[NounPhrase, ...], verb: str) -> None:
        if any(thing.fresh and thing.kind == "tag" for thing in things):
            raise Stuck(verb, "say which things are not to be moved: everything else cannot be told")
        self.draft.still.extend(things)
        self.cursor.skip("filler")

    # The scene

    def _existing(self, place: Place | None) -> None:
        """After 有: things that are there; 其中 begins what is said of some of them."""
        if self._least_here():
            self._at_least()
            return
        self.draft.statements.append(Statement(things=self.things.things(), place=place))

    def _least_here(self) -> bool:
        """Whether 至少 ... begins here: 至少有六样东西, 一个至少有六样东西的台面."""
        ahead = 0
        while self.cursor.sees("number", "classifier", ahead=ahead) and ahead < 2:
            ahead += 1
        return self.cursor.sees("least") or (ahead > 0 and self.cursor.sees("least", ahead=ahead))

    def _at_least(self) -> None:
        self.cursor.skip("number", "classifier")
        self.cursor.take("least")
        self.cursor.skip("exist", "filler")
        things = self.things.thing()
        if things.kind == "tag" and things.head == "object" and things.count is not None:
            self.draft.at_least = things.count
        else:
            self.draft.statements.append(Statement(things=(things,), place=self._scene_place()))
        self.draft.pending_place = None
        self.cursor.take("de")

    def _used(self) -> None:
        """用左边的抽屉: which one is meant; 用盒子装苹果: where things go."""
        if self._named_hand():
            return
        thing = self.things.thing()
        self.cursor.take("place")
        self.cursor.skip("filler")
        verb = self.cursor.sense("verb")
        if verb is not None and verb.value in ("put", "put in"):
            self.draft.pending_place = Place(relation="in", target=thing)
            self._command(())
            return
        if verb is not None and verb.value == "cover":  # 用餐巾盖住碗
            word = self.cursor.take("verb")
            assert word is not None
            self._add(Command(
                action="cover", word=word.text, themes=(thing,), destination=Place(relation="on", target=self.things.thing())
            ))  # fmt: skip
            return
        if verb is not None and verb.value == "wipe" and self.cursor.sees(*HEADS, *LOOKS, ahead=1):  # 用海绵擦桌子
            word = self.cursor.take("verb")
            assert word is not None
            self._add(Command(action="wipe", word=word.text, themes=self.things.things(), tool=thing))
            return
        self.draft.used.append(thing)

    def _set_scene(self) -> None:
        """在厨房里 / 在桌子上: where it all happens; otherwise where the next thing is or goes."""
        if self._take_palm():
            return
        self.cursor.take("at")
        if self.cursor.sees("still", "ba") or (self.cursor.sees("verb") and not self.things.at_thing()):
            return
        if self.things.scene_words():
            self.cursor.take("place")
            self.cursor.take("de")
            return
        place = self.things.place()
        if place.target is not None and place_of_surface(place.target) is not None and place.relation in ("on", "in", "to"):
            self.draft.surface = place.target
            self.draft.pending_place = place if self.cursor.sees("verb") else None
            return
        self.draft.pending_place = place

    def _scene_place(self) -> Place | None:
        """Where the things of a statement are: said before them (桌子上有两个罐头)."""
        place, self.draft.pending_place = self.draft.pending_place, None
        return place

    def _described(self) -> None:
        """A clause that begins with a thing: topic of a verb, place of things, or a statement about it."""
        if self.things.scene_words():
            self.cursor.take("place")
        if not self.things.at_thing():
            return
        things = self.things.things()
        if self.cursor.take("not_needed"):
            self.draft.absent.extend(things)
        elif (token := self.cursor.take("still")) is not None:
            self._keep_still(things, token.text)
        elif self.cursor.sees("forbid"):
            self._forbidden(things)
        elif self.cursor.sees("place", ahead=int(self.cursor.sees("de"))):
            self._place_first(things)
        elif self.cursor.take("at"):
            self.draft.statements.append(Statement(things=things, place=self.things.place()))
        elif self.cursor.sees("exist") and self.cursor.sees(*LOOKS, ahead=1):
            self._likened(things)
        elif self.cursor.sees("result"):
            self._state(things)
        elif self.cursor.sees("verb") and not self.cursor.sees("clutter"):
            self._command(things)
        elif len(things) == 1 and place_of_surface(things[0]) is not None:
            self.draft.surface = things[0]
            if clutter := self.cursor.take("clutter"):
                self.things.note(clutter)
        else:
            self.draft.statements.append(Statement(things=things))

    def _likened(self, things: tuple[NounPhrase, ...]) -> None:
        """其中一个是红色的: what something is like."""
        self.cursor.take("exist")
        like = self.things.thing()
        told = [
            replace(
                thing, color=like.color or thing.color, size=like.size or thing.size, materials=like.materials or thing.materials
            )
            for thing in things
        ]
        self.draft.statements.append(Statement(things=tuple(told)))

    def _place_first(self, targets: tuple[NounPhrase, ...]) -> None:
        relation = self.things.postposition("on")
        if (relation == "between") != (len(targets) == 2):
            raise self.cursor.stuck("between what? Say 盘子和碗之间")
        place = Place(relation=relation, target=targets[0], second=targets[1] if relation == "between" else None)
        surface = place_of_surface(targets[0]) is not None and relation in ("on", "in")
        if surface:
            self.draft.surface = targets[0]
        if clutter := self.cursor.take("clutter"):
            self.things.note(clutter)
        elif self._least_here():
            self._at_least()
        elif self.cursor.take("exist"):
            self._existing(None if surface else place)
        elif not surface or self.cursor.sees("verb"):
            self.draft.pending_place = place

    def _state(self, things: tuple[NounPhrase, ...]) -> None:
        """抽屉开着: how it is at the start."""
        token = self.cursor.take("result")
        sense = token.sense("result") if token else None
        if sense is None or sense.value not in ("open", "close"):
            raise self.cursor.stuck("only a door or a drawer has a state: open or closed")
        state: Literal["open", "closed"] = "open" if sense.value == "open" else "closed"
        self.draft.statements.append(Statement(things=things, state=state))

    def _upright_here(self) -> bool:
        sense = self.cursor.sense("result")
        return sense is not None and sense.value == "upright"

    # Commands

    def _moved(self) -> None:
        """After 把: things, perhaps where from, then the verb."""
        self._take_share()
        self._take_palm()
        things = self.things.things()
        source: NounPhrase | None = None
        while True:
            self.cursor.skip("filler")
            if self._take_clock() or self._take_palm():
                continue
            if self.cursor.take("from"):
                source = source if self._named_hand() else self._place_target()
            elif self.cursor.take("use"):
                self._named_hand()
            elif self._upright_here():
                self.cursor.take("result")
                self.cursor.take("verb")
                self._add(Command(action="upright", word="竖直", themes=things))
                return
            elif (still := self.cursor.take("still")) is not None:
                self._keep_still(things, still.text)
                return
            else:
                break
        if not self.cursor.sees("verb"):
            raise self.cursor.stuck("a verb was expected after 把 ...")
        self._command(things, source)

    def _take_palm(self) -> bool:
        """手里的, 在手里: where a thing lies that is turned there."""
        ahead = int(self.cursor.sees("at"))
        if not self.cursor.sees("palm", ahead=ahead):
            return False
        self.cursor.at += ahead + 1
        self.cursor.take("de")
        self.palm = True
        return True

    def _take_clock(self) -> bool:
        """顺时针: which way it is turned."""
        clock = self.cursor.sense("clock")
        if clock is None:
            return False
        self.cursor.at += 1
        self.clockwise = clock.value == "clockwise"
        return True

    def _turned_in_hand(self, command: Command) -> None:
        """旋转手里的方块90度: by how much, which way."""
        if not command.themes:
            self._take_palm()
            command = replace(command, themes=self.things.things() if self.things.at_thing() else ())
        while self._take_clock() or self._take_palm() or self.cursor.take("filler"):
            pass
        number, angle = self.cursor.sense("number"), math.pi / 2
        if number is not None and number.value.isdigit() and self.cursor.sees("degrees", ahead=1):
            self.cursor.at += 2
            angle = math.radians(float(number.value))
        sign = -1.0 if self.clockwise else 1.0
        self.palm = self.clockwise = False
        self._add(replace(command, action="reorient", angle=sign * angle))

    def _take_share(self) -> None:
        """一半的水: how much of a liquid, said before it or before what it is in."""
        share = self.cursor.sense("share")
        if share is None or not self.cursor.sees("de", *HEADS, ahead=1):
            return
        self.cursor.at += 1
        self.cursor.take("de")
        self.share = float(share.value)

    def _took_share(self) -> float:
        share, self.share = self.share, 1.0
        return share

    def _took_then(self) -> bool:
        then, self.then = self.then, False
        return then

    def _add(self, command: Command) -> None:
        """Append a command with the words of order said before it; one before which another comes waits for it."""
        first, self.first = self.first, False
        command = replace(command, then=self._took_then(), first=first)
        if self.cursor.take("before"):
            self.postponed.append(command)
            return
        place = command.destination
        if (
            self.postponed and self.postponed[-1].themes and place is not None and place.target is None
        ):  # 关上抽屉之前把勺子放进去
            command = replace(command, destination=replace(place, target=self.postponed[-1].themes[0]))
        self.draft.add(command)

    def _command(self, things: tuple[NounPhrase, ...], source: NounPhrase | None = None) -> None:
        verb = self.cursor.take("verb")
        assert verb is not None
        sense = verb.sense("verb")
        assert sense is not None
        match sense.value:
            case "tidy":
                self._tidy()
            case "contact":
                self._contact(verb)
            case "empty":
                self._empty(verb, things)
            case "discard":
                themes = things or (self.things.things() if self.things.at_thing() else ())
                rubbish = Place(relation="in", target=NounPhrase(kind="category", head=BIN, text=BIN))
                self.cursor.skip("filler")
                self._add(Command(action="put", word=verb.text, themes=themes, source=source, destination=rubbish))
            case "pour" | "fill" | "scoop":
                self._pour(verb, sense.value, things, source)
            case "hand":
                self._handing(verb, things)
            case action:
                self._handle(verb, action, things, source)

    def _handle(self, verb: Token, said: str, things: tuple[NounPhrase, ...], source: NounPhrase | None) -> None:
        """A verb of moving, holding, opening or closing, with what it is done to and where that goes."""
        inside = said == "put in"
        action = cast(Action, "put" if inside else said)
        command = Command(action=action, word=verb.text, themes=things, source=source)
        self.cursor.skip("filler")
        if action == "turn" and (self.palm or self.cursor.sees("palm")):
            self._turned_in_hand(command)
            return
        if self._upright_here():
            self.cursor.take("result")
            self._add(replace(command, action="upright"))
            return
        if action in ("put", "stack", "cover", "hang"):
            command = self._destination(command, inside=inside, ends=verb.text[-1] in "在到回至")
            if action == "stack" and command.destination is None:  # a stack is of several, though no number is said
                themes = tuple(replace(t, quantity="some") if t.uncounted else t for t in command.themes)
                command = replace(command, themes=themes)
        elif not command.themes and self.things.at_thing():
            command = replace(command, themes=self.things.things())
        self.cursor.skip("filler")
        if self.hand is not None and action in HELD:
            command, self.hand = in_hands(command, (self.hand,)), None
        self._add(replace(command, deliberate=action in ("lift", "grasp")))

    def _pour(self, verb: Token, said: str, things: tuple[NounPhrase, ...], source: NounPhrase | None) -> None:
        """把水倒进碗里, 倒一半的水到杯子里, 把碗装满水, 舀一些豆子到碗里."""
        self._take_share()
        if said == "fill":
            pending, self.draft.pending_place = self.draft.pending_place, None
            place = pending or Place(relation="in", target=things[0] if things else self.things.thing())
            liquid = self.things.things() if self.things.at_thing() else ()
            if things and liquid and not has_inside(things[0]):  # 把水倒满杯子
                liquid, place = things, replace(place, target=liquid[0])
            self._add(Command(action="fill", word=verb.text, themes=liquid, source=source, destination=place))
            return
        if not things and self.things.at_thing() and verb.text[-1] not in "进入到":
            things = self.things.things()
        things, share = tuple(map(of_it, things)), self._took_share()
        command = Command(action=cast(Action, said), word=verb.text, themes=things, source=source, share=share)
        pending = self.draft.pending_place
        if things and pending is not None and not self.things.at_thing():  # 往杯子里倒水
            self.draft.pending_place = None
            self._add(replace(command, destination=pending))
            return
        self._add(self._destination(command, inside=True, ends=True))

    def _named_hand(self) -> bool:
        """Read a hand, and remember it for the verb that comes."""
        token = self.cursor.take("hand")
        sense = None if token is None else token.sense("hand")
        self.hand = self.hand if sense is None else sense.value
        return sense is not None

    def _handing(self, verb: Token, things: tuple[NounPhrase, ...]) -> None:
        """把木棍从左手递给右手: from the one said before, or from the other."""
        giver, self.hand = self.hand, None
        if not things and self.things.at_thing():
            things = self.things.things()
        if not self._named_hand() or self.hand is None:
            raise self.cursor.stuck(f"'{verb.text}' to which hand? Say 递给右手")
        taker, self.hand = self.hand, None
        self._add(Command(action="hand", word=verb.text, themes=things, hands=(giver or OTHER[taker], taker)))

    def _empty(self, verb: Token, things: tuple[NounPhrase, ...]) -> None:
        """把抽屉清空: all that is in it comes out."""
        self.cursor.skip("filler")
        source = things[0] if things else self.things.thing()
        everything = NounPhrase(kind="tag", head="object", text="所有东西", quantity="each")
        self._add(Command(action="remove", word=verb.text, themes=(everything,), source=source))

    def _contact(self, verb: Token) -> None:
        """让勺子碰到盘子, 让抽屉开着, 保持瓶子竖直, 让盘子留在原地."""
        start = self.cursor.at
        themes = self.things.things() if self.things.at_thing() else ()
        self.cursor.skip("filler")
        if (still := self.cursor.take("still")) is not None and themes:
            self._keep_still(themes, still.text)
            return
        again = self.cursor.sense("verb")
        self.cursor.at += again is not None and again.value == "contact"  # 让抽屉保持打开
        result = self.cursor.sense("result")
        touch = self.cursor.sense("verb")
        if result is not None or (touch is not None and touch.value in ("open", "close")):
            self.cursor.at += 1
            action = cast(Action, result.value if result is not None else touch.value if touch is not None else "")
            self._add(Command(action=action, word=verb.text, themes=themes, keep=action != "upright"))
            return
        if touch is None or touch.value != "touch" or self.cursor.at == start:
            raise self.cursor.stuck(f"'碰到' was expected after '{verb.text} ...'")
        self.cursor.at += 1
        destination = Place(relation="near", target=self.things.thing())
        self._add(Command(action="contact", word=verb.text, themes=themes, destination=destination))

    def _destination(self, command: Command, *, inside: bool, ends: bool) -> Command:
        """Where a verb of putting puts: 放进碗里, 放在盘子上, 放里面; or its things first: 放两个苹果到篮子里."""
        if self.cursor.sees("at"):
            self.cursor.take("at")
            ends = True
        token = self.cursor.peek()
        if token is not None and (token.text in INSIDE or (token.has("place") and not token.has("position"))):
            place = token.sense("place")
            self.cursor.at += 1
            return replace(command, destination=Place(relation=cast(Relation, place.value if place else "in"), target=None))
        if not self.things.at_thing():
            return replace(command, destination=Place(relation="in", target=None)) if inside else command
        if not command.themes and (self.draft.pending_place is not None or (not ends and not inside)):
            command = replace(command, themes=self.things.things())
            if not self.cursor.take("at"):
                return command
        elif not command.themes and inside:
            start = self.cursor.at
            things = self.things.things()
            if not self.cursor.sees("place") and not any(has_inside(thing) for thing in things):  # 打开抽屉，放入勺子
                return replace(command, themes=things, destination=Place(relation="in", target=None))
            self.cursor.at = start
        return replace(command, destination=self.things.place("in" if inside else "to", alike=command.action == "stack"))

    def _tidy(self) -> None:
        self.draft.clutter = self.draft.clutter or "tidy"
        self.things.scene_words()
        if self.things.at_thing():
            thing = self.things.thing()
            if place_of_surface(thing) is None:
                raise self.cursor.stuck("only a table, a counter or a kitchen can be tidied")
            self.draft.surface = thing

    def _place_target(self) -> NounPhrase:
        """The thing of a place whose relation does not matter: from where."""
        target = self.things.thing()
        self.cursor.take("place")
        return target
