"""Instructions say what goals ask for, in English and Chinese, and words that ask for something else are found."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from task_worlds import p

from embodiedsmith import assets
from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.spec import All, Any, AssetSpec, Goal, Item, Not, SceneSpec, Sequence
from embodiedsmith.tasks import check_text, instruction, predicate, predicate_names
from embodiedsmith.tasks.nouns import plural


def scene(**things: AssetSpec) -> SceneSpec:
    return SceneSpec(items=tuple(Item(id=name, asset=asset) for name, asset in things.items()))


def a(category: str, color: str | None = None, size: str = "medium") -> AssetSpec:
    return AssetSpec.model_validate({"category": category, "color": color, "size": size})


KITCHEN = scene(
    mug=a("mug", "red"),
    bowl=a("bowl"),
    book=a("book"),
    banana=a("banana"),
    apple_1=a("apple"),
    apple_2=a("apple"),
    apple_3=a("apple", "green"),
    big=a("knife", size="large"),
    small=a("knife", size="small"),
    blue=a("block", "blue"),
    green=a("block", "green"),
    basket=a("basket"),
    unit=a("drawer_unit"),
    cabinet=a("base_cabinet"),
    fridge=a("fridge"),
    shelf=a("shelf"),
    oven=a("microwave"),
    table=a("table"),
)

DRAWER = All(goals=(p("inside", "mug", "unit.drawer_top"), p("closed", "unit.drawer_top")))

GOLDEN: list[tuple[Goal, str, str]] = [
    (DRAWER, "put the red mug in the top drawer of the drawer unit and close it", "把红色的马克杯放进抽屉柜最上面的抽屉里并关上"),
    (p("on", "blue", "green"), "stack the blue block on the green block", "把蓝色的积木叠到绿色的积木上"),
    (p("on", "mug", "table"), "put the red mug on the table", "把红色的马克杯放到桌子上"),
    (
        Sequence(goals=(p("open", "oven.door"), All(goals=(p("inside", "bowl", "oven"), p("closed", "oven.door"))))),
        "first open the microwave, then put the bowl in it and close it",
        "先打开微波炉，然后把碗放进微波炉里并关上",
    ),
    (
        All(goals=tuple(p("inside", f"apple_{k}", "basket") for k in (1, 2))),
        "put the two red apples in the basket",
        "把两个红色的苹果放进篮子里",
    ),
    (
        All(goals=(p("inside", "apple_3", "basket"), p("inside", "banana", "basket"))),
        "put the green apple and the banana in the basket",
        "把绿色的苹果和香蕉放进篮子里",
    ),
    (
        Any(goals=tuple(p("inside", f"apple_{k}", "basket") for k in (1, 2))),
        "put a red apple in the basket",
        "把一个红色的苹果放进篮子里",
    ),
    (p("inside", "apple_2", "basket"), "put one of the two red apples in the basket", "把两个红色的苹果中的一个放进篮子里"),
    (p("on", "book", "shelf.board_top"), "put the book on the top board of the shelf", "把书放到架子最上层上"),
    (p("inside", "bowl", "fridge.board_top"), "put the bowl in the top compartment of the fridge", "把碗放进冰箱最上层里"),
    (
        p("inside", "bowl", "cabinet.door_left"),
        "put the bowl in the left compartment of the base cabinet",
        "把碗放进柜子左边的格子里",
    ),
    (p("open", "cabinet.door_left"), "open the left door of the base cabinet", "打开柜子左边的门"),
    (p("lifted", "big"), "lift the large knife", "拿起大刀"),
    (p("grasped", "bowl"), "grasp the bowl", "抓住碗"),
    (p("upright", "mug"), "stand the red mug upright", "把红色的马克杯竖直放好"),
    (p("near", "bowl", "mug"), "move the bowl next to the red mug", "把碗移到红色的马克杯旁边"),
    (
        Sequence(goals=(p("lifted", "mug"), p("on", "mug", "table"), p("upright", "mug"))),
        "first lift the red mug, then put it on the table, and finally stand the red mug upright",
        "先拿起红色的马克杯，然后把它放到桌子上，最后把红色的马克杯竖直放好",
    ),
    (p("touching", "bowl", "mug"), "make the bowl touch the red mug", "让碗碰到红色的马克杯"),
    (p("at", "bowl", x=0.5, y=-0.1, z=0.74), "move the bowl to (0.50, -0.10, 0.74) m", "把碗移到(0.50, -0.10, 0.74)米处"),
    (Not(goal=p("on", "mug", "table")), "take the red mug off the table", "把红色的马克杯从桌子上拿开"),
    (
        All(goals=(p("closed", "fridge.door"), p("inside", "bowl", "fridge"))),
        "put the bowl in the fridge and close it",
        "把碗放进冰箱里并关上",
    ),
    (
        All(goals=(p("inside", "bowl", "fridge"), p("on", "mug", "table"), p("upright", "mug"))),
        "put the bowl in the fridge, put the red mug on the table and stand the red mug upright",
        "把碗放进冰箱里，把红色的马克杯放到桌子上，并把红色的马克杯竖直放好",
    ),
    (
        Any(goals=(p("on", "mug", "table"), p("on", "mug", "fridge"))),
        "put the red mug on the table or put the red mug on the fridge",
        "把红色的马克杯放到桌子上，或者把红色的马克杯放到冰箱上",
    ),
    (
        Not(goal=All(goals=(p("open", "fridge.door"), Not(goal=p("on", "mug", "table"))))),
        "close the fridge or put the red mug on the table",
        "关上冰箱，或者把红色的马克杯放到桌子上",
    ),
    (p("left_of", "mug", "bowl"), "put the red mug to the left of the bowl", "把红色的马克杯放到碗左边"),
    (p("behind", "banana", "big"), "put the banana behind the large knife", "把香蕉放到大刀后面"),
    (
        p("between", "green", "mug", "bowl"),
        "put the green block between the red mug and the bowl",
        "把绿色的积木放到红色的马克杯和碗之间",
    ),
    (
        All(goals=(p("unmoved", "bowl"), p("unmoved", "book"), p("right_of", "mug", "bowl"))),
        "put the red mug to the right of the bowl, without moving the bowl and the book",
        "把红色的马克杯放到碗右边，不要移动碗和书",
    ),
    (
        All(goals=(Sequence(goals=(p("open", "oven"), p("inside", "bowl", "oven"))), p("unmoved", "mug"))),
        "first open the microwave, then put the bowl in it, without moving the red mug",
        "先打开微波炉，然后把碗放进微波炉里，不要移动红色的马克杯",
    ),
    (
        Sequence(
            goals=(
                p("on", "mug", "table"),
                All(goals=(p("on", "mug", "table"), p("open", "fridge"))),
                All(goals=(p("on", "mug", "table"), p("open", "fridge"), p("lifted", "banana"))),
            )
        ),
        "first put the red mug on the table, then open the fridge, and finally lift the banana",
        "先把红色的马克杯放到桌子上，然后打开冰箱，最后拿起香蕉",
    ),
    (
        All(goals=(p("upright", "mug"), p("lifted", "mug"), p("closed", "fridge.door"))),
        "close the fridge, lift the red mug and stand it upright",
        "关上冰箱，拿起红色的马克杯，并把它竖直放好",
    ),
    (
        Sequence(goals=(All(goals=(p("inside", "apple_1", "basket"), p("inside", "apple_2", "basket"))), p("lifted", "basket"))),
        "first put the two red apples in the basket, then lift the basket",
        "先把两个红色的苹果放进篮子里，然后拿起篮子",
    ),
    (
        Not(goal=Sequence(goals=(p("open", "fridge"), p("closed", "fridge")))),
        "do not first open the fridge, then close it",
        "不要先打开冰箱，然后关上",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("goal", "english", "chinese"), GOLDEN, ids=[g[1] for g in GOLDEN])
def test_golden(goal: Goal, english: str, chinese: str) -> None:
    assert instruction(goal, KITCHEN, "en") == english
    assert instruction(goal, KITCHEN, "zh") == chinese
    assert check_text(english, goal) is None
    assert check_text(chinese, goal) is None


def test_words_are_said_only_where_they_tell_things_apart() -> None:
    lift = p("lifted", "x")
    assert instruction(lift, scene(x=a("mug")), "en") == "lift the mug"
    assert instruction(lift, scene(x=a("mug", "red")), "en") == "lift the red mug"
    assert instruction(lift, scene(x=a("mug"), y=a("mug", "blue")), "en") == "lift the red mug"
    assert instruction(lift, scene(x=a("mug"), y=a("mug", size="large")), "en") == "lift the smaller mug"
    assert instruction(lift, scene(x=a("mug"), y=a("mug", size="large")), "zh") == "拿起较小的马克杯"
    assert instruction(lift, scene(x=a("mug"), y=a("mug")), "en") == "lift one of the two mugs"
    assert instruction(p("lifted", "y"), scene(x=a("mug"), y=a("mug", "blue", "small")), "zh") == "拿起蓝色的小马克杯"


def at(item: Item, parent: str, relation: str = "on", support: str | None = None) -> Item:
    return Item.model_validate({**item.model_dump(), "parent": parent, "relation": relation, "support": support})


def test_things_that_look_alike_are_told_by_where_they_are() -> None:
    flat = scene(x=a("mug"), y=a("mug"), z=a("mug"), table=a("table"), box=a("box"), unit=a("drawer_unit"), plate=a("plate"))
    places = {"x": ("box", "inside", None), "y": ("unit", "inside", "drawer_top"), "z": ("plate", "on", None)}
    told = SceneSpec(items=tuple(at(i, *places[i.id]) if i.id in places else i for i in flat.items))
    assert instruction(p("on", "x", "table"), told, "en") == "put the mug that is in the box on the table"
    assert instruction(p("on", "x", "table"), told, "zh") == "把盒子里的马克杯放到桌子上"
    assert instruction(p("lifted", "y"), told, "en") == "lift the mug that is in the top drawer of the drawer unit"
    assert instruction(p("lifted", "y"), told, "zh") == "拿起最上面的抽屉里的马克杯"
    both = All(goals=(p("on", "x", "table"), p("on", "z", "table")))
    each = "put the mug that is in the box and the mug that is on the plate on the table"
    assert instruction(both, told, "en") == each
    assert instruction(both, told, "zh") == "把盒子里的马克杯和盘子上的马克杯放到桌子上"
    inside = SceneSpec(items=tuple(at(i, "box", "inside") if i.id in "xz" else i for i in told.items))
    assert instruction(both, inside, "en") == "put the two mugs that are in the box on the table"
    assert instruction(both, inside, "zh") == "把盒子里的两个马克杯放到桌子上"


def test_some_of_many_in_one_place_are_counted_there() -> None:
    flat = scene(x=a("mug"), y=a("mug"), z=a("mug"), w=a("mug"), table=a("table"), box=a("box"), tray=a("tray"))
    four = SceneSpec(items=tuple(at(i, "box", "inside") if i.id in "xyz" else i for i in flat.items))
    one, two = p("on", "x", "tray"), All(goals=(p("on", "x", "tray"), p("on", "y", "tray")))
    assert instruction(one, four, "en") == "put one of the three mugs that are in the box on the tray"
    assert instruction(one, four, "zh") == "把盒子里的三个马克杯中的一个放到托盘上"
    assert instruction(two, four, "en") == "put two of the three mugs that are in the box on the tray"
    assert instruction(two, four, "zh") == "把盒子里的三个马克杯中的两个放到托盘上"


def test_things_that_look_alike_are_told_by_what_is_beside_them() -> None:
    two = scene(x=a("mug"), y=a("mug"), plate=a("plate"), bowl=a("bowl"))
    beside = [p("between", "x", "plate", "bowl")]
    assert instruction(p("lifted", "x"), two, "en", beside) == "lift the mug that is between the plate and the bowl"
    assert instruction(p("lifted", "x"), two, "zh", beside) == "拿起盘子和碗之间的马克杯"
    assert instruction(p("lifted", "y"), two, "en", beside) == "lift one of the two mugs"


def test_of_two_ways_to_say_where_a_thing_is_the_one_that_tells_more_is_said() -> None:
    flat = scene(x=a("mug"), y=a("mug"), z=a("mug"), table=a("table"), tray=a("tray"))
    three = SceneSpec(items=tuple(at(i, "tray" if i.id == "z" else "table") if i.id in "xyz" else i for i in flat.items))
    beside = [p("left_of", "x", "tray")]  # on the table it has a rival, to the left of the tray it has none
    assert instruction(p("lifted", "x"), three, "en", beside) == "lift the mug that is to the left of the tray"
    assert instruction(p("lifted", "z"), three, "zh", beside) == "拿起托盘上的马克杯"


def test_things_in_a_row_are_told_by_its_ends() -> None:
    three = scene(x=a("mug"), y=a("mug"), z=a("mug"), tray=a("tray"))
    row = [p("left_of", "x", "y"), p("right_of", "z", "y")]
    assert instruction(p("lifted", "x"), three, "en", row) == "lift the leftmost mug"
    assert instruction(p("lifted", "z"), three, "zh", row) == "拿起最右边的马克杯"
    assert instruction(p("lifted", "y"), three, "en", row) == "lift one of the three mugs"
    depth = [p("behind", "x", "y"), p("in_front_of", "z", "y")]
    assert instruction(p("lifted", "x"), three, "en", depth) == "lift the farthest mug"
    assert instruction(p("lifted", "z"), three, "zh", depth) == "拿起最近的马克杯"


def test_what_nothing_tells_apart_is_one_and_the_other() -> None:
    two = scene(x=a("mug"), y=a("mug"), plate=a("plate"), table=a("table"), tray=a("tray"))
    swap = Sequence(goals=(p("on", "x", "plate"), p("on", "y", "tray"), p("on", "x", "table")))
    words = "first put one of the two mugs on the plate, then put the other mug on the tray"
    assert instruction(swap, two, "en") == words + ", and finally put the first mug on the table"
    assert (
        instruction(swap, two, "zh")
        == "先把两个马克杯中的一个放到盘子上，然后把另一个马克杯放到托盘上，最后把第一个马克杯放到桌子上"
    )


def test_sizes_are_compared_and_materials_said() -> None:
    three = scene(x=a("block"), y=a("block", size="small"), z=a("block", size="small"))
    assert instruction(p("lifted", "x"), three, "en") == "lift the largest block"
    assert instruction(p("lifted", "x"), three, "zh") == "拿起最大的积木"
    between = scene(x=a("block"), y=a("block", size="small"), z=a("block", size="large"))
    assert instruction(p("lifted", "x"), between, "en") == "lift the medium-sized block"
    glass = scene(x=AssetSpec(category="cup", material="glass"), y=AssetSpec(category="cup"))
    assert instruction(p("lifted", "x"), glass, "en") == "lift the glass cup"
    assert instruction(p("lifted", "y"), glass, "en") == "lift the ceramic cup"
    assert instruction(p("lifted", "x"), glass, "zh") == "拿起玻璃的杯子"  # 玻璃杯 is the name of a cup of whatever


def test_a_chinese_adjective_does_not_make_another_name() -> None:
    assert instruction(p("lifted", "x"), scene(x=a("knife", size="small")), "zh") == "拿起小的刀"  # 小刀 is a knife of any size


def test_an_owner_is_named_in_chinese_where_two_things_have_such_a_part() -> None:
    two = scene(mug=a("mug"), left=a("drawer_unit", "white"), right=a("drawer_unit", "brown"))
    assert instruction(p("inside", "mug", "right.drawer_top"), two, "zh") == "把马克杯放进棕色的抽屉柜最上面的抽屉里"


def test_some_of_many_are_counted() -> None:
    three = scene(a=a("orange"), b=a("orange"), c=a("orange"), basket=a("basket"), box=a("box"))
    goal = All(goals=(p("inside", "a", "basket"), p("inside", "b", "basket")))
    assert instruction(goal, three, "en") == "put two of the three oranges in the basket"
    assert instruction(goal, three, "zh") == "把三个橙子中的两个放进篮子里"
    anyone = Any(goals=tuple(p("inside", k, "box") for k in "abc"))
    assert instruction(anyone, three, "en") == "put an orange in the box"


def test_numbered_parts_are_counted_from_the_top() -> None:
    tall = scene(mug=a("mug"), unit=AssetSpec(category="drawer_unit", params={"drawers": 4}))
    assert instruction(p("open", "unit.drawer_1"), tall, "en") == "open the second drawer of the drawer unit"
    assert instruction(p("open", "unit.drawer_1"), tall, "zh") == "打开第二个抽屉"


@pytest.mark.parametrize("name", sorted(assets.categories()))
def test_every_part_in_the_catalogue_can_be_said_in_both_languages(name: str) -> None:
    thing = assets.build(AssetSpec(category=name))
    goals = [p("on", "ball", f"thing.{s.name}") for s in thing.affordances.supports]
    goals += [p("inside", "ball", f"thing.{c.name}") for c in thing.affordances.cavities]
    goals += [p(verb, f"thing.{j}") for j in thing.joints for verb in ("open", "closed")]
    goals.append(p("touching", "ball", "thing"))
    things = scene(thing=a(name), ball=a("lemon" if name != "lemon" else "orange"))
    for goal in goals:
        english, chinese = instruction(goal, things, "en"), instruction(goal, things, "zh")
        assert english.isascii()
        assert "_" not in english
        assert not any("a" <= letter <= "z" for letter in chinese)
        assert check_text(english, goal) is None
        assert check_text(chinese, goal) is None


placements = st.builds(
    p,
    st.sampled_from(["on", "near"]), st.sampled_from(["mug", "bowl", "banana", "apple_3"]), st.sampled_from(["table", "shelf"]),
)  # fmt: skip
joints = st.builds(p, st.sampled_from(["open", "closed"]), st.sampled_from(["fridge", "unit.drawer_top"]))
goals = st.recursive(
    placements | joints,
    lambda inner: st.one_of(
        st.builds(lambda g: All(goals=tuple(g)), st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda g: Sequence(goals=tuple(g)), st.lists(inner, min_size=1, max_size=3)),
    ),
    max_leaves=5,
)


@settings(max_examples=60, deadline=None)
@given(goals)
def test_generated_text_never_disagrees_with_its_goal_and_is_always_the_same(goal: Goal) -> None:
    for language in ("en", "zh"):
        text = instruction(goal, KITCHEN, language)  # type: ignore[arg-type]
        assert text == instruction(goal, KITCHEN, language)  # type: ignore[arg-type]
        assert check_text(text, goal) is None


@pytest.mark.parametrize(
    ("text", "goal", "why"),
    [
        ("lift the red mug", p("on", "mug", "table"), r"wants on\(mug, table\)"),
        ("put the red mug on the table", p("lifted", "mug"), r"wants lifted\(mug\)"),
        ("拿起红色的杯子", p("on", "mug", "table"), r"wants on\(mug, table\)"),
        ("put the mug in the drawer", DRAWER, r"wants closed\(unit.drawer_top\)"),
        ("put the mug in the drawer and close it", DRAWER.goals[0], "'close' asks for closed"),
        ("put the mug on the drawer unit and close it", DRAWER, r"wants inside\(mug, unit.drawer_top\)"),
        ("open the fridge", p("closed", "fridge"), r"wants closed\(fridge\)"),
        ("admire the mug", p("on", "mug", "table"), "no word of it asks for"),
        ("put the mug to the left of the bowl", p("right_of", "mug", "bowl"), r"wants right_of\(mug, bowl\)"),
        ("put the mug on the table", All(goals=(p("on", "mug", "table"), p("unmoved", "bowl"))), r"wants unmoved\(bowl\)"),
        ("put the mug on the table without moving the bowl", p("on", "mug", "table"), "'without moving' asks for unmoved"),
        ("把杯子放到碗和书之间", p("behind", "mug", "bowl"), r"wants behind\(mug, bowl\)"),
    ],
)
def test_words_that_ask_for_something_else_are_found(text: str, goal: Goal, why: str) -> None:
    finding = check_text(text, goal)
    assert finding is not None
    assert finding.code == "logic.text_disagrees"
    assert finding.severity == "error"
    assert set(finding.subjects) & {"mug", "table", "unit.drawer_top", "fridge", "bowl"}
    with pytest.raises(AssertionError, match=why):
        raise AssertionError(finding.message)


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("Pick up the mug, open the top drawer, put it inside and close it", DRAWER),
        ("take the bottle from the table and put it in the fridge", p("inside", "bowl", "fridge")),
        ("Place the cup onto the table, please", p("on", "mug", "table")),
        ("拿起杯子，打开抽屉，放进去，然后关上抽屉", DRAWER),
        ("把每个苹果都放到篮子里", p("inside", "apple_1", "basket")),
        ("put the milk on the top shelf of the fridge", p("inside", "bowl", "fridge.board_top")),
        ("stack the blue block on the green block", p("on", "blue", "green")),
        ("把立方体放到桌子上", p("on", "blue", "table")),
        ("put the bowl close to the mug", p("near", "bowl", "mug")),
        ("remove the mug from the table", Not(goal=p("on", "mug", "table"))),
        ("put the mug left of the bowl, do not touch the book", All(goals=(p("left_of", "mug", "bowl"), p("unmoved", "book")))),
        ("在不移动书的情况下把杯子摆在碗的右边", All(goals=(p("right_of", "mug", "bowl"), p("unmoved", "book")))),
        ("lift the banana that is next to the bowl", p("lifted", "banana")),
    ],
)
def test_people_say_the_same_in_other_words(text: str, goal: Goal) -> None:
    assert check_text(text, goal) is None


def test_unknown_predicates_and_items_are_refused() -> None:
    with pytest.raises(UsageError, match="unknown predicate 'fold'"):
        instruction(p("fold", "mug"), KITCHEN, "en")
    with pytest.raises(KeyError, match="spade"):
        instruction(p("lifted", "spade"), KITCHEN, "en")


def test_what_leaves_nothing_more_to_do_is_said_last() -> None:
    last = ["closed", "grasped", "in_both_hands", "in_left_hand", "in_right_hand", "lifted", "reoriented", "squeezed"]
    assert [name for name in predicate_names() if predicate(name).said_last] == last


@pytest.mark.parametrize(
    ("one", "many"),
    [
        ("apple", "apples"),
        ("red box", "red boxes"),
        ("knife", "knives"),
        ("dish", "dishes"),
        ("tray", "trays"),
        ("berry", "berries"),
    ],
)
def test_plurals(one: str, many: str) -> None:
    assert plural(one) == many
