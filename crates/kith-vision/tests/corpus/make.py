"""Makes the photos that fuzzing begins with: small, drawn, in every format that is read.

    pip install pillow numpy && python make.py
"""

import pathlib

import numpy as np
from PIL import Image

HERE = pathlib.Path(__file__).parent / "photos"
# A red cell in a ring of colours, which the toy networks take for a face.
RING = [[[40, 200, 90], [90, 150, 30], [10, 220, 160]], [[70, 180, 240], [255, 0, 0], [100, 140, 60]]]
RING.append([[20, 250, 120], [60, 160, 200], [110, 130, 10]])
DRAWN = Image.fromarray(np.array(RING, np.uint8).repeat(32, 0).repeat(32, 1))
EXIF = Image.Exif()
EXIF[0x0112] = 6
EXIF[0x0110] = "a camera"
EXIF[0x0132] = "2024:05:01 12:30:00"

DRAWN.save(HERE / "turned.jpg", quality=90, exif=EXIF)
DRAWN.save(HERE / "progressive.jpg", quality=80, progressive=True, subsampling=2)
DRAWN.convert("CMYK").save(HERE / "inks.jpg", quality=80)
DRAWN.convert("L").save(HERE / "grey.jpg", quality=80)
DRAWN.save(HERE / "eight.png")
DRAWN.quantize(16).save(HERE / "palette.png")
Image.fromarray(np.asarray(DRAWN.convert("L")).astype(np.uint16) * 257).save(HERE / "sixteen.png")
DRAWN.save(HERE / "lossless.webp", lossless=True)
DRAWN.save(HERE / "lossy.webp", quality=70, exif=EXIF)
for compression in ["tiff_lzw", "tiff_adobe_deflate", "jpeg"]:
    DRAWN.save(HERE / f"{compression}.tiff", compression=compression)
# A preview behind other bytes, as in RAW files.
(HERE / "preview.raw").write_bytes(b"raw" + (HERE / "turned.jpg").read_bytes())
