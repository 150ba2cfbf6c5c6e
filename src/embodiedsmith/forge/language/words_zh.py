"""Chinese words that are not names of things: verbs, places, quantities, positions, settings, fillers.

The catalogue names the things, colours and groups. Each table maps a meaning to the phrases that carry it.
"""

from __future__ import annotations


def _words(listed: str) -> tuple[str, ...]:
    """Phrases between commas."""
    return tuple(listed.split(", "))


VERBS: dict[str, tuple[str, ...]] = {
    "put": _words(
        "放, 放到, 放在, 放回, 放回到, 放置, 放置在, 放置到, 摆, 摆到, 摆在, 摆放, 摆放在, 移, 移到, 移动, "
        "移动到, "
        "移至, 挪到, 拿到, 搬, 搬到, 送到, 带到, 装到, 丢, 丢到, 扔, 扔到, 收到, 收, 收拾到, 端到, 推到, 放好, "
        "转移到, 取到, 挪, 拿去, 放上, 摆上, 搁, 搁在, 搁到, 留在, 保存在, 存放在, 存放到, 放下, 放下来"
    ),
    "put in": _words(
        "放进, 放入, 装进, 装入, 塞进, 塞入, 丢进, 扔进, 投入, 投进, 收进, 搬进, 移进, 移入, 拿进, 装, "
        "放进去, 放入到, 放进到, 收入, 插进, 插入, 存进, 存入, 送进, 摆进"
    ),
    "discard": _words("扔掉, 丢掉, 扔了, 丢了, 丢弃, 扔走"),
    "empty": _words("清空, 腾空, 倒空"),
    "take": _words("取, 拿, 取下, 拿下"),
    "remove": _words(
        "拿出, 取出, 拿出来, 取出来, 拿走, 取走, 移出, 移走, 拿开, 移开, 掏出, 搬出, 取下来, 拿下来, 移除, 清出, "
        "挪出, 端出, 端出来"
    ),
    "lift": _words(
        "拿起, 举起, 抬起, 提起, 拾起, 捡起, 举高, 拿起来, 举起来, 抬起来, 提起来, 捡起来, 端起, 端起来, 拎起, "
        "拎起来, 抬高, 抬, 举, 提"
    ),
    "grasp": _words(
        "拿住, 抓住, 握住, 抓, 夹住, 抓取, 抓起, 抓起来, 捏住, 握, 扶住, 扶着, 扶好, 按住, 拿着, 抓着, 握着, 捧住, 捧着, 捧起"
    ),
    "cover": _words("盖住, 盖上, 盖好, 盖, 覆盖, 遮住, 盖到, 盖在"),
    "wipe": _words("擦, 擦掉, 擦干净, 擦去, 擦净, 擦拭, 擦一擦, 擦一下, 擦拭干净, 抹, 抹掉, 抹去, 抹干净"),
    "hang": _words("挂, 挂到, 挂在, 挂上, 挂好, 挂起来, 晾, 晾到, 晾在, 搭到, 搭在"),
    "fold": _words("对折, 对折起来, 对折好, 折叠, 折叠起来, 折叠好, 折好, 折起来, 折一下, 叠好, 折"),
    "straighten": _words("拉直, 捋直, 弄直, 扯直, 拉紧, 拉平"),
    "scoop": _words("舀, 舀到, 舀进, 舀入, 舀起, 铲, 铲到, 铲进"),
    "pour": _words("倒进, 倒入, 倒到, 倒, 倾倒, 倾倒到, 倒进去"),
    "fill": _words("装满, 倒满, 灌满, 盛满"),
    "squeeze": _words("捏, 捏一捏, 捏一下, 挤, 挤压, 挤一挤, 挤一下, 按压"),
    "touch": _words("碰, 触碰, 触摸, 摸, 碰一下, 推, 碰碰, 摸一下, 推一下, 轻碰, 点一下, 碰到, 推推"),
    "open": _words("打开, 开, 拉开, 开启, 推开, 敞开, 开开, 拧开, 旋开"),
    "close": _words("关上, 关闭, 关, 合上, 关好, 推上, 关起来, 关紧, 推回去, 关掉, 闭上, 合起来, 关严, 拧上, 拧紧"),
    "turn": _words("转动, 拧动, 旋转, 拧, 转, 转一下, 拧一下, 扭动, 旋动"),
    "stack": _words(
        "叠, 叠放, 叠到, 叠在, 叠放到, 摞, 摞在, 摞到, 堆, 堆在, 堆到, 叠放在, 堆叠, 堆叠在, 堆放, 堆放在, "
        "叠起来, 摞起来, 堆起来, 叠上, 堆叠到, 叠成一摞"
    ),
    "contact": _words("让, 使, 保持, 使得"),
    "hand": _words("递给, 递到, 递, 传给, 传到, 交给, 交到"),
    "tidy": _words("整理, 收拾, 打扫, 清理, 整理一下, 收拾一下"),
}

PALM = ("手里", "手中", "手上", "手心", "手心里", "掌中", "掌心", "手掌里", "手掌上")
DEGREES = ("度",)
CLOCK = {"clockwise": ("顺时针", "顺时针方向"), "anticlockwise": ("逆时针", "逆时针方向")}

HANDS: dict[str, tuple[str, ...]] = {
    "left": ("左手", "左臂", "左边的手"), "right": ("右手", "右臂", "右边的手"), "both": ("双手", "两只手", "两手", "双臂"),
}  # fmt: skip

RESULTS: dict[str, tuple[str, ...]] = {
    "open": _words("开着, 打开着, 敞开着, 开着的, 打开的"),
    "close": _words("关着, 关闭着, 关着的, 关闭的, 关上的"),
    "upright": _words("竖直, 直立, 竖着, 立着, 保持竖直, 保持直立, 扶正, 立起来"),
}

SHARES: dict[str, tuple[str, ...]] = {
    "0.75": _words("四分之三"),
    "0.5": _words("一半, 半"),
    "0.25": _words("四分之一"),
}
"""How much of a liquid."""

PLACES: dict[str, tuple[str, ...]] = {
    "in": _words("里, 里面, 内, 中, 里边, 当中, 里头, 之中, 之内, 内部"),
    "on": _words("上, 上面, 之上, 上边, 顶上, 上头, 顶部"),
    "near": _words("旁边, 旁, 边上, 附近, 边, 一旁, 的旁边, 的附近, 身边, 近旁"),
    "left": _words("左边, 左侧, 左面, 左方, 左手边, 左边儿"),
    "right": _words("右边, 右侧, 右面, 右方, 右手边, 右边儿"),
    "front": _words("前面, 前边, 前方, 正前方, 跟前, 前头"),
    "behind": _words("后面, 后边, 后方, 正后方, 背后, 后头"),
    "between": _words("之间, 中间, 正中间, 中间位置"),
}
"""Postpositions: what stands before them is the place."""

PARTS: dict[str, tuple[str, ...]] = {
    "drawer": _words("抽屉"),
    "door": _words("门"),
    "compartment": _words("格子, 隔间"),
    "board": _words("层板, 隔板, 层, 格, 搁板, 架板, 层架"),
}

POSITIONS: dict[str, tuple[str, ...]] = {
    "top": _words("最上面, 最上, 上面, 上层, 最上层, 最上方, 上方, 顶层, 最顶层, 最高, 最上边, 上, 最顶上, 顶部, 顶上, 靠上"),
    "middle": _words("中间, 中, 中层, 中间层, 正中间, 当中"),
    "bottom": _words(
        "最下面, 最下, 下面, 下层, 最下层, 最下方, 下方, 底层, 最底层, 最低, 最下边, 下, 底下, 最底下, 底部, 下边, 最底部"
    ),
    "left": _words("左, 左边, 左侧, 左面, 最左边, 最左侧, 最左面, 靠左, 最靠左, 左手边"),
    "right": _words("右, 右边, 右侧, 右面, 最右边, 最右侧, 最右面, 靠右, 最靠右, 右手边"),
    "last": _words("最后一个, 最后一层, 最后"),
    "1": _words("第一个, 第一层, 第一, 第1个, 第1层"),
    "2": _words("第二个, 第二层, 第二, 第2个, 第2层"),
    "3": _words("第三个, 第三层, 第三, 第3个, 第3层"),
    "4": _words("第四个, 第四层, 第四, 第4个, 第4层"),
}

BOARD_POSITIONS = ("层", "顶层", "底层")
"""Endings of position words that already name a board ("最上层": the top board)."""

SUPERLATIVES: dict[str, tuple[str, ...]] = {
    "largest": _words("最大, 最大号, 较大, 更大, 大一点, 大一些, 比较大, 大点"),
    "smallest": _words("最小, 最小号, 较小, 更小, 小一点, 小一些, 比较小, 小点"),
    "tallest": _words("最高, 较高, 更高, 高一点, 高一些, 比较高, 最长, 更长"),
    "shortest": _words("最矮, 最低, 较矮, 更矮, 矮一点, 矮一些, 比较矮, 最短, 更短"),
    "leftmost": _words("最左边, 最左侧, 最左, 最左面, 最靠左"),
    "rightmost": _words("最右边, 最右侧, 最右, 最右面, 最靠右"),
    "nearest": _words(
        "靠近机器人, 离机器人近, 离机器人较近, 最近, 离机器人最近, 离你最近, 最靠近机器人, 离得最近, 最前面, 最前边, 最靠前"
    ),
    "farthest": _words(
        "离机器人远, 离机器人较远, 远离机器人, 最远, 离机器人最远, 离你最远, 离得最远, 最后面, 最后边, 最靠后, 最里面"
    ),
}
"""Which of several."""

SIZES: dict[str, tuple[str, ...]] = {
    "small": _words("小, 小号, 小的, 小型, 迷你"),
    "medium": _words("中号, 中等, 中型, 中等大小, 普通"),
    "large": _words("大, 大号, 大的, 大型, 巨大"),
}

MATERIALS: dict[str, tuple[str, ...]] = {
    "wood": _words("木头, 木质, 木制, 木, 实木"),
    "ceramic": _words("陶瓷, 瓷, 陶, 瓷制"),
    "glass": _words("玻璃"),
    "steel aluminium": _words("金属"),
    "steel": _words("钢, 不锈钢, 钢制"),
    "aluminium": _words("铝, 铝制"),
    "plastic": _words("塑料, 塑胶"),
    "cardboard": _words("纸板, 硬纸板, 纸壳"),
    "paper": _words("纸, 纸质"),
    "wicker": _words("藤编, 柳条, 藤, 编织"),
    "stone": _words("石头, 大理石, 石, 花岗岩, 石质"),
    "foam": _words("泡沫, 海绵质"),
    "chipboard": _words("刨花板"),
}

QUANTIFIERS: dict[str, tuple[str, ...]] = {
    "each": _words("所有, 全部, 每个, 每一个, 每只, 每, 每一, 一切, 所有这些, 全部的, 任何, 每本, 每件"),
    "2": _words("两, 俩, 一对, 一双"),
    "some": _words("一些, 几, 若干, 好几, 数"),
    "everything": _words("所有东西, 一切东西, 全部东西, 所有的东西"),
}

NUMBERS: dict[str, tuple[str, ...]] = {
    **{str(value): (word, str(value)) for value, word in enumerate("一二三四五六七八九十", start=1)},
    "2": ("二", "两", "2"),
    **{str(10 + value): ("十" + word,) for value, word in enumerate("一二三四五六七八九", start=1)},
    "20": ("二十",),
}
CLASSIFIERS = _words(
    "个, 只, 本, 块, 瓶, 罐, 杯, 把, 张, 件, 颗, 根, 条, 支, 盘, 碗, 台, 盒, 枚, 听, 篮, 袋, 份, 口, 扇, 层, 样, 种, 些, 座"
)
ARTICLES = _words(
    "同一个, 同一只, 同一本, 同一块, 同一, 刚才那个, 这, 那, 这个, 那个, 该, 这些, 那些, 这只, 那只, 这本, 那本, 我的, 你的, "
    "这把, 那把, 这块, 那块, 这瓶, 那瓶"
)
REST = _words("其余, 其他, 其它, 剩下, 剩余, 别的, 余下, 剩下来")
"""All that are left, where no number follows."""
FRESH = (*_words("另一个, 另外一个, 另一只, 另一本, 另外, 另一块, 另"), *REST)
AMONG = _words("其中, 它们中, 它们当中, 它们之中, 其中的")

PRONOUNS: dict[str, tuple[str, ...]] = {
    "it": _words("它, 其, 这个, 那个"),
    "them": _words("它们, 他们, 这些, 那些, 它俩"),
}

SETTINGS: dict[str, tuple[str, ...]] = {
    "kitchen": _words("厨房"),
    "room": _words("房间, 客厅, 卧室, 屋里, 屋子, 家"),
    "tabletop": _words("办公室, 书房"),
}

CLUTTER: dict[str, tuple[str, ...]] = {
    "cluttered": _words("杂乱, 凌乱, 混乱, 乱糟糟, 拥挤, 乱, 很乱, 堆满东西"),
    "tidy": _words("整洁, 干净, 空, 空荡荡, 整齐, 空空, 很干净, 很整洁"),
}
THEN = _words(
    "第二步, 第三步, 第四步, 第五步, 最后一步, 然后, 接着, 之后, 随后, 最后, 再, 然后再, 接下来, 其次, 后, 以后, "
    "完了再, 之后再, 接着再, 最后再"
)
FIRST = _words("先, 首先, 第一步, 一开始")
BEFORE = _words("之前, 以前")
AND = _words("并, 并且, 和, 与, 及, 以及, 跟, 同时, 还有, 且")
FILLERS = _words(
    "请, 帮我, 请你, 麻烦, 麻烦你, 你, 机器人, 一下, 好, 都, 来, 去, 吧, 轻轻, 小心, 小心地, 轻轻地, "
    "慢慢, 慢慢地, 现在, 给我, 我要你, 我想让你, 能不能, 可以, 你能, 你能不能, 们, 全都, 也, 了, 完全, 起来, "
    "过来, "
    "过去, 上去, 上来, 下来, 回去, 出来, 请问, 帮忙, 您, 我, 快速, 快, 仔细, 地, 一起, 重新, 整齐地, 吗, 呢, "
    "啊, "
    "将会, 需要, 要, 想, 谢谢, 谢谢你, 谢谢您, 多谢, 谢啦, 辛苦了, 麻烦您, 劳驾, 拜托, 请您, 帮我一下, 马上, 立刻, 赶紧, "
    "注意, 但是, 但, 不过, 记得, 务必, 一定要, 一定, 等, 等到, 大小不同, 大小不一, 不同大小"
)
EXIST = _words("有, 摆着, 放着, 是, 放有, 摆有, 存放着, 装着")
LYING = _words("放在, 摆在, 搁在, 装在, 存放在, 留在")
"""Before where something is: 放在盘子上的苹果."""
INSIDE = _words("里面, 里, 进去, 入, 进")
"""After a verb of putting: inside what was last spoken of."""
ABSENT = _words("没有, 不要有, 不要, 无, 不放, 别, 不准, 不能, 不许, 不可以, 不得, 切勿, 勿, 请勿, 禁止, 避免, 千万别, 千万不要")
_NEVER = _words(
    "不要, 不要再, 别, 别再, 不, 不能, 不可以, 不可, 不许, 不准, 不得, 请勿, 切勿, 勿, 千万别, 千万不要, 禁止, 避免, "
    "不用, 别去, 不要去"
)
MOVED = _words(
    "移动, 动, 碰, 碰到, 触碰, 挪动, 挪, 搬动, 动到, 碰触, 接触, 触摸, 碰着, 改变位置, 移动到, 挪开, 移开, 拿走, 乱动, 乱碰"
)
STILL = (*(never + move for never in _NEVER for move in MOVED), *_words("原地不动, 保持不动, 不动, 留在原地, 留在原处, 待在原处"))
"""What it is said with that a thing must stay where it is."""
SPILT = _words("洒出来, 洒出, 洒出去, 洒了, 洒, 弄洒了, 弄洒, 洒掉, 洒到外面, 撒出来, 撒了, 溅出来, 溅出, 漏出来")
FORBID: dict[str, tuple[str, ...]] = {
    "spill": tuple(never + spilt for never in _NEVER for spilt in SPILT),
}
"""What is forbidden, as one word with what forbids it."""
SO_THAT = _words("情况下, 前提下, 条件下, 同时, 的情况下, 的前提下, 的条件下, 的同时")
"""After a condition: 在不移动盘子的情况下."""
LEAST = _words("至少, 最少, 不少于, 起码, 不下于")
USE = _words("用, 使用, 就用")

BEYOND: dict[str, tuple[str, ...]] = {
    "what is not to be done cannot be told: say only what is to be done": _words("除了, 除"),
    "a choice cannot be left open: say the one that is meant": _words("或, 或者, 还是, 要么, 任意"),
    "conditions cannot be told: say what is to be done in any case": _words("如果, 要是, 假如, 除非, 直到"),
    "there is no such relation yet: say on, in, next to, left or right of, in front of, behind or between": _words(
        "对面, 周围, 四周, 的下面, 底下面"
    ),
    "there is no skill for it yet: things can be put, stacked, lifted, grasped, opened and closed": _words(
        "折叠, 对折, 擦, 擦干净, 擦拭, 洗, 清洗, 切, 煮, 炒, 翻转, 旋转, 转动, 拧, 拧开, 拧紧, "
        "摇, 摇晃, 挂, 挂上, 搅拌, 加热, 启动"
    ),
    "there is nobody to hand things to: say where to put them": _words("递, 递给, 递给我, 交给, 交给我"),
    "such an order cannot be told yet: say for each thing where it goes": _words(
        "交换, 互换, 对调, 调换, 排列, 排成, 摆成, 摆成一排, 成一排, 排成一排, 排好, 分类, 按颜色, 按大小, 摆餐具"
    ),
}
"""Words that are understood but ask for what cannot be done, by the reason why."""
NOT_NEEDED = _words("不需要, 不用, 用不着, 不必要, 不必, 不用管, 不需要管")
BA = _words("把, 将")
FROM = _words("从, 自, 由")
TO = ("给",)
"""Before what something is poured into: 给杯子倒水."""
AT = _words("在, 于, 位于, 到, 至, 往, 向, 朝")
DE = _words("的, 之, 那个, 这个")
