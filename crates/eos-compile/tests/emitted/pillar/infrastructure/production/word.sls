#!yaml
# Written by eos. Change it with eos; with comments or in another form it is yours, and eos leaves it alone.
eos:
  components:
    word:
      kind: word
      host: h1
      settings:
        machines:
          - h1
          - h2
        first: 4000
        last: 4010
      volumes:
        data:
          backing: lvm
          path: /srv/eos/production/word/data
          size: 1G
          group: vg0
          filesystem: btrfs
