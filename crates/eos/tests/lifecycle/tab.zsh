# tab.zsh ROOT SCRIPT OUT LINE...   types each line and TAB into a zsh unpacked at ROOT that has sourced SCRIPT, and writes
# to OUT what then stands on the line.
root=$1 script=$2 out=$3
shift 3
folder=($root/usr/lib/*/zsh/*(/N))
module_path=($folder)
zmodload zsh/zpty
zpty shell "$root/bin/zsh -f -i"
zpty -w shell "module_path=($folder)
fpath=($root/usr/share/zsh/functions/**/*(/N))
autoload -Uz compinit; compinit -D -u
source $script
show() { print -r -- \"\$BUFFER\" >> $out; BUFFER= }
zle -N show; bindkey '^]' show"
for line in "$@"; do
  zpty -n -w shell "$line"$'\t\x1d'
done
zpty -w shell exit
while zpty -r shell said; do :; done
