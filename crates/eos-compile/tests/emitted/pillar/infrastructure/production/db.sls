#!yaml
# Written by eos. Change it with eos; with comments or in another form it is yours, and eos leaves it alone.
eos:
  components:
    db:
      kind: db
      host: h1
      runtime: host
      settings:
        port: 5000
        admin_password: 'secret://production/db/admin_password?v=1'
      volumes:
        data:
          backing: directory
          path: /srv/eos/production/db/data
          size: 10G
