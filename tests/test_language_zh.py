"""Chinese briefs: what the grammar makes of them, word by word, before anything is furnished."""

from __future__ import annotations

import pytest

from embodiedsmith.forge.language import Command, Meaning, NotUnderstood, NounPhrase, Place, Statement, read


def noun(phrase: NounPhrase | None) -> str:
    """`2 red largest block @left(plate)`: number, look, head, owner, place, group."""
    if phrase is None:
        return "-"
    words = [
        str(phrase.count or ""), "every" if phrase.quantity == "each" else "", "other" if phrase.fresh else "",
        phrase.color or "", phrase.size or "", "/".join(phrase.materials), phrase.position or "", phrase.superlative or "",
        "one" if phrase.kind == "one" else "", phrase.head,
    ]  # fmt: skip
    told = " ".join(word for word in words if word)
    told += f" of {noun(phrase.owner)}" if phrase.owner else ""
    told += f" @{place(phrase.place)}" if phrase.place else ""
    return told + (f" among ({noun(phrase.among)})" if phrase.among else "")


def place(where: Place) -> str:
    return f"{where.relation}({noun(where.target)}{', ' + noun(where.second) if where.second else ''})"


def command(what: Command) -> str:
    order = "".join(mark for mark, on in (("first ", what.first), ("then ", what.then), ("keep ", what.keep)) if on)
    to = f" {place(what.destination)}" if what.destination else ""
    source = f" from({noun(what.source)})" if what.source else ""
    return f"{order}{what.action} {', '.join(map(noun, what.themes)) or '-'}{to}{source}"


def statement(so: Statement) -> str:
    things = ", ".join(map(noun, so.things))
    return f". {things}{' ' + place(so.place) if so.place else ''}{' ' + so.state if so.state else ''}"


def said(meaning: Meaning) -> str:
    parts = [*map(statement, meaning.statements), *map(command, meaning.commands)]
    parts += [f"still {noun(thing)}" for thing in meaning.still] + [f"use {noun(thing)}" for thing in meaning.used]
    parts += [f"without {noun(thing)}" for thing in meaning.absent]
    parts += [f"at least {meaning.at_least}"] if meaning.at_least else []
    parts += [word for word in (meaning.setting, meaning.clutter) if word]
    return "; ".join(parts)


SENTENCES = [
    # Relations: where to
    ("把马克杯放到盘子左边", "put mug left(plate)"),
    ("请把红色杯子放在盘子的左侧，谢谢", "put red cup left(plate)"),
    ("麻烦你把香蕉挪到碗的后面去", "put banana behind(bowl)"),
    ("把积木移到碗前面", "put block front(bowl)"),
    ("把积木放在盘子和碗之间", "put block between(plate, bowl)"),
    ("将罐头移至瓶子与罐子之间", "put can between(bottle, jar)"),
    ("把蓝色的书摆在绿色的书和罐头中间", "put blue book between(green book, can)"),
    ("把勺子放在碗和盘子的中间", "put spoon between(bowl, plate)"),
    ("盘子左边放一个杯子", "put 1 cup left(plate)"),
    ("在盘子和碗之间放一个积木", "put 1 block between(plate, bowl)"),
    ("往碗里放两个苹果", "put 2 apple in(bowl)"),
    ("在桌上放一个苹果", ". table; put 1 apple on(table)"),
    ("苹果放碗里，香蕉放盘子上", "put apple in(bowl); put banana on(plate)"),
    ("把苹果放进碗里，香蕉放进盒子里", "put apple in(bowl); put banana in(box)"),
    ("把苹果和香蕉放进碗里，把罐头放进垃圾桶", "put apple, banana in(bowl); put can in(bin)"),
    ("每个盘子上放一个罐头", "put 1 can on(every plate)"),
    ("用盒子装苹果", "put apple in(box)"),
    ("用下面的抽屉装勺子", "put spoon in(bottom drawer)"),
    ("打开抽屉，放入勺子", "open drawer; put spoon in(-)"),
    # Relations: which
    ("把盘子左边的马克杯放进抽屉里", "put mug @left(plate) in(drawer)"),
    ("把盘子和碗之间的积木放进盒子里", "put block @between(plate, bowl) in(box)"),
    ("把位于盘子左边的杯子放进盒子", "put cup @left(plate) in(box)"),
    ("把放在盘子上的苹果放进碗里", "put apple @on(plate) in(bowl)"),
    ("把盘子前面的杯子拿起来", "lift cup @front(plate)"),
    ("把苹果放到桌子上的盘子旁边", "put apple near(plate @on(table))"),
    # Relations: at the start
    ("马克杯在盘子左边，把它放到盘子右边", ". mug left(plate); put it right(plate)"),
    ("碗的左边有一个苹果，把苹果放进碗里", ". 1 apple left(bowl); put apple in(bowl)"),
    ("盘子和碗之间有一个积木，把它放进盒子里", ". 1 block between(plate, bowl); put it in(box)"),
    # Which of several
    ("把最大的积木放进碗里", "put largest block in(bowl)"),
    ("把那个最小的红色积木叠在最大的蓝色积木上面", "stack red smallest block on(blue largest block)"),
    ("把最高的瓶子放到架子上", "put tallest bottle on(shelf)"),
    ("把小一点的碗放到大一点的碗里", "put smallest bowl in(largest bowl)"),
    ("把左边的碗放进右边的碗里", "put leftmost bowl in(rightmost bowl)"),
    ("把最左边的罐头扔掉", "put leftmost can in(bin)"),
    ("把离机器人最近的积木放进碗里", "put nearest block in(bowl)"),
    ("把靠近机器人的杯子放到最远的盘子上", "put nearest cup on(farthest plate)"),
    ("把三个积木中最大的那个放进碗里", "put largest one block among (3 block) in(bowl)"),
    ("把三个积木里最小的放到盘子上", "put smallest one block among (3 block) on(plate)"),
    ("把三个橙子中的两个放进篮子里", "put 2 one orange among (3 orange) in(basket)"),
    ("把其中两个橙子放进篮子里", "put 2 orange among (them) in(basket)"),
    ("桌上有三个积木。把大的那个放进碗里，其余的放进盒子里",
     ". table; . 3 block; put large one block in(bowl); put every other one block in(box)"),
    ("把红色的积木放进碗里，其他的积木放进盒子里", "put red block in(bowl); put every other block in(box)"),
    ("把两个苹果放进碗里，剩下的放进篮子里", "put 2 apple in(bowl); put every other one apple in(basket)"),
    ("把另一个积木也放进碗里", "put other block in(bowl)"),
    ("桌子上有两个马克杯，一个在碗里。把碗里的那个放到盘子上",
     ". table; . 2 mug; . 1 one mug among (them) in(bowl); put one mug @in(bowl) on(plate)"),
    ("桌上有三个马克杯，其中一个是红色的。把红色的放到盘子上",
     ". table; . 3 mug; . 1 red one mug among (them); put red one mug on(plate)"),
    ("桌上有两个杯子，一个红色一个蓝色，把红色的放到盘子上",
     ". table; . 2 cup; . 1 red one cup among (them); . 1 blue one cup among (them); put red one cup on(plate)"),
    ("有两本书，一本是红色的，另一本是绿色的。把绿色的那本放到架子上",
     ". 2 book; . 1 red one book among (them); . other green one book; put green one book on(shelf)"),
    ("把蓝色的积木叠到绿色的上", "stack blue block on(green one block)"),
    ("把苹果放进红色的碗里，把香蕉放进蓝色的那个里", "put apple in(red bowl); put banana in(blue one bowl)"),
    ("把木头积木放进金属锅里", "put wood block in(steel/aluminium pan)"),
    # Parts
    ("把右手边的柜门打开", "open right door of base_cabinet"),
    ("把马克杯放进柜子左边的格子里", "put mug in(left compartment of base_cabinet)"),
    ("把书放到书架最上层", "put book to(top board of shelf)"),
    ("把第二个抽屉打开，把第一个抽屉关上", "open 2 drawer; close 1 drawer"),
    ("把杯子放进抽屉里，用左边的抽屉", "put cup in(drawer); use left drawer"),
    ("把勺子放进抽屉里。请使用最上面的抽屉。", "put spoon in(drawer); use top drawer"),
    # What must stay
    ("把马克杯放到桌子上，不要移动盘子", "put mug on(table); still plate"),
    ("把苹果放进碗里，但是千万不要碰那个红色的马克杯", "put apple in(bowl); still red mug"),
    ("在不移动盘子的情况下，把苹果放进碗里", "put apple in(bowl); still plate"),
    ("请在不碰到瓶子的前提下把杯子放进抽屉", "put cup in(drawer); still bottle"),
    ("盘子不要动，把杯子放到盘子左边", "put cup left(plate); still plate"),
    ("让盘子保持不动，把杯子放到盘子右边", "put cup right(plate); still plate"),
    ("把碗留在原处，把苹果放到碗旁边", "put apple near(bowl); still bowl"),
    ("不要把盘子移开，把苹果放进碗里", "put apple in(bowl); still plate"),
    ("不要碰碗和盘子，把马克杯放进抽屉里", "put mug in(drawer); still bowl; still plate"),
    # Order
    ("先打开抽屉，再把马克杯放进去，最后关上抽屉", "first open drawer; then put mug in(-); then close drawer"),
    ("首先把苹果放进碗里，然后打开抽屉，并且关上冰箱", "first put apple in(bowl); then open drawer; close fridge"),
    ("第一步打开冰箱，第二步把瓶子放进去，第三步关上冰箱", "first open fridge; then put bottle in(-); then close fridge"),
    ("先打开微波炉，接着把碗放进去，再关上门，最后把马克杯放到微波炉上",
     "first open microwave; then put bowl in(-); then close door; then put mug on(microwave)"),
    ("关上抽屉之前，先把杯子放进去", "first put cup in(drawer); then close drawer"),
    ("在关上抽屉之前把勺子放进去", "put spoon in(drawer); then close drawer"),
    ("等打开抽屉之后把杯子放进去", "open drawer; then put cup in(-)"),
    ("把杯子放进抽屉之后关上抽屉", "put cup in(drawer); then close drawer"),
    # States to keep
    ("把杯子放进抽屉里，最后让抽屉关着", "put cup in(drawer); then keep close drawer"),
    ("把杯子放进抽屉里，让抽屉保持打开", "put cup in(drawer); keep open drawer"),
    ("拿起瓶子并保持竖直", "lift bottle; upright -"),
    ("保持瓶子竖直，把它放到桌子上", "upright bottle; put it on(table)"),
    # The scene
    ("在一个杂乱的台面上，上面至少有六样东西，把苹果放进碗里", ". 1 counter; put apple in(bowl); at least 6; cluttered"),
    ("一个至少有六样东西的杂乱台面，把苹果放进碗里", ". counter; put apple in(bowl); at least 6; cluttered"),
    ("厨房的台面上很乱，至少有六样东西。把苹果放进碗里", ". counter; put apple in(bowl); at least 6; kitchen; cluttered"),
    ("桌子上至少有三个苹果，把它们放进篮子里", ". table; . 3 apple; put them in(basket)"),
    ("桌子上有三个大小不同的积木，把最大的放进盒子", ". table; . 3 block; put largest one block in(box)"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "meaning"), SENTENCES)
def test_what_a_sentence_means(text: str, meaning: str) -> None:
    assert said(read(text)) == meaning


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("不要打开抽屉", "what is not to be done"),
        ("别把杯子放到盘子上", "what is not to be done"),
        ("把苹果放进碗里，不要移动", "say which things are not to be moved"),
        ("把苹果放进碗里，不要动其他东西", "everything else cannot be told"),
        ("把盘子摆到桌子中间", "between what"),
        ("盘子之间放一个碗", "between what"),
        ("把杯子放到桌子下面", "there is no such relation yet"),
        ("把杯子放到盘子对面", "there is no such relation yet"),
        ("把上面的苹果放进碗里", "told by its height or number"),
        ("把所有的积木放进盒子，除了红色的", "what is not to be done"),
        ("把杯子放到盘子的左边或者右边", "a choice cannot be left open"),
        ("把杯子摆成一排", "such an order cannot be told yet"),
        ("让勺子盘子", "was expected after"),
        ("把杯子", "a verb was expected"),
        ("抽屉竖直", "only a door or a drawer has a state"),
        ("整理盘子", "can be tidied"),
        ("把放进碗里", "a thing was expected"),
    ],
)
def test_what_cannot_be_read_says_why(text: str, why: str) -> None:
    with pytest.raises(NotUnderstood, match=why):
        read(text)
