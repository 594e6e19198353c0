"""Draws photos of made-up people with red noses, which the toy networks of the tests take for faces.

    pip install pillow; python docs/people.py pics
    kith add family.kith pics --models crates/kith-vision/tests/toy
    kith learn family.kith --seed 1
    kith name family.kith IMG_2000.jpg#0 Ana    # IMG_2007.jpg#0 Ben, IMG_2014.jpg#0 Carl
    kith people family.kith --sheet people.html

The picture of that page is people.png.
"""

import os, random, sys

from PIL import Image, ImageDraw

S = 4  # Drawn larger, then reduced.
PEOPLE = [  # skin, hair, style, shirt, glasses
    ((246, 215, 186), (92, 58, 30), "bob", (60, 110, 170), False),
    ((141, 94, 60), (30, 22, 20), "curly", (230, 190, 60), True),
    ((250, 224, 200), (205, 205, 210), "bald", (90, 140, 90), True),
    ((228, 184, 140), (20, 20, 26), "long", (170, 80, 120), False),
    ((255, 226, 205), (214, 120, 48), "short", (70, 150, 150), False),
]


def face(d, cx, cy, p, rng, mood):
    skin, hair, style, shirt, glasses = PEOPLE[p]
    j = lambda c: tuple(max(0, min(255, int(v * mood))) for v in c)
    e = lambda x0, y0, x1, y1, c: d.ellipse([cx + x0 * S, cy + y0 * S, cx + x1 * S, cy + y1 * S], fill=j(c))
    r = lambda x0, y0, x1, y1, c: d.rectangle([cx + x0 * S, cy + y0 * S, cx + x1 * S, cy + y1 * S], fill=j(c))
    e(-60, 44, 60, 150, shirt)
    if style == "long":
        e(-50, -58, 50, 30, hair)
        r(-50, -14, 50, 62, hair)
    if style == "bob":
        e(-50, -58, 50, 34, hair)
        r(-50, -12, 50, 30, hair)
    if style == "curly":
        for k in range(-4, 5):
            e(k * 11 - 17, -62 + abs(k) * 5, k * 11 + 17, -24 + abs(k) * 7, hair)
    if style == "short":
        e(-44, -58, 44, 20, hair)
    e(-14, 30, 14, 66, skin)
    e(-42, -50, 42, 52, skin)
    if style in ("bob", "long"):
        d.pieslice([cx - 44 * S, cy - 56 * S, cx + 44 * S, cy + 16 * S], 180, 360, fill=j(hair))
        e(-36, -30, 36, 20, skin)
    if style == "short":
        d.chord([cx - 43 * S, cy - 56 * S, cx + 43 * S, cy + 30 * S], 195, 345, fill=j(hair))
    if style == "bald":
        e(-52, -10, -38, 24, hair)
        e(38, -10, 52, 24, hair)
    dx = rng.choice([-2, 0, 2])
    for sx in (-20, 20):
        e(sx - 9, -24, sx + 9, -10, (255, 255, 255))
        e(sx - 4 + dx, -22, sx + 5 + dx, -12, (40, 50, 60))
        if glasses:
            d.ellipse(
                [cx + (sx - 14) * S, cy - 30 * S, cx + (sx + 14) * S, cy - 5 * S], outline=j((30, 30, 30)), width=3 * S
            )
    open_ = rng.random() < 0.4
    if open_:
        d.chord([cx - 20 * S, cy + 14 * S, cx + 20 * S, cy + 44 * S], 0, 180, fill=j((120, 20, 40)))
    else:
        d.arc([cx - 20 * S, cy + 8 * S, cx + 20 * S, cy + 38 * S], 20, 160, fill=j((120, 20, 40)), width=4 * S)
    d.ellipse([cx - 16 * S, cy - 16 * S, cx + 16 * S, cy + 16 * S], fill=(255, 0, 0))


def photo(people, seed):
    rng = random.Random(seed)
    w, h = 160 * len(people) + 32, 224
    top = rng.choice([(170, 205, 230), (235, 225, 205), (190, 215, 180), (215, 205, 225), (205, 215, 220)])
    im = Image.new("RGB", (w * S, h * S), top)
    d = ImageDraw.Draw(im)
    low = tuple(int(v * 0.78) for v in top)
    d.rectangle([0, h * S * rng.uniform(0.55, 0.8), w * S, h * S], fill=low)
    for k, p in enumerate(people):
        col = 2 + 5 * k + rng.choice([0, 1])
        row = 3
        face(d, (col * 32 + 16) * S, (row * 32 + 16) * S, p, rng, rng.uniform(0.93, 1.03))
    return im.resize((w, h), Image.LANCZOS)


out = sys.argv[1]
os.makedirs(out, exist_ok=True)
groups = [
    [0],
    [1],
    [2],
    [3],
    [4],
    [0, 1],
    [2, 3],
    [0, 4],
    [1, 2, 0],
    [3],
    [0],
    [1],
    [2],
    [0, 2],
    [1, 4],
    [0],
    [3, 0],
    [1],
    [2, 1],
    [0],
]
for n, g in enumerate(groups):
    photo(g, 100 + n).save(f"{out}/IMG_{2000+n*7}.jpg", quality=94)
