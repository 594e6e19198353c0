#!/bin/sh
# Makes the libraries of this folder anew, with the `kith` that is on the PATH, in the folder it is run in.
set -eu
export USER=recorder
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
kith simulate --out "$made/seen" --people 8 --frames 45 --dimension 6 --spread 80 --switch 0.15 --seed 9

# Everything that can be said, full covariances with scales, learnt.
printf '[face]\nkind = "full"\n' > "$made/full.toml"
kith add full.kith "$made/seen" --embedding made-up
kith name full.kith 0 Ann
kith name full.kith 4 Bo
kith name full.kith 22 Cy
kith not full.kith 18 Ann
kith same full.kith 18 20
kith different full.kith 0 4
kith ignore full.kith 47
kith name full.kith 1 Mistake
kith undo full.kith
kith learn full.kith --model "$made/full.toml" --chains 2 --sweeps 10 --seed 4
kith check full.kith

# The paper's face model; something was said after learning.
printf '[face]\nkind = "isotropic"\n' > "$made/isotropic.toml"
kith add isotropic.kith "$made/seen"
kith learn isotropic.kith --model "$made/isotropic.toml" --chains 2 --sweeps 6 --seed 4
kith name isotropic.kith 0 Ann
kith check isotropic.kith
