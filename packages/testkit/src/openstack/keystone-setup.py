# Makes the database, the keys and the first objects of a Keystone: three commands of keystone-manage, each in a child of
# this process, because loading Keystone takes seconds.
import os
import sqlite3
import sys

from keystone.cmd import cli

directory, url, password = sys.argv[1:]
settings = directory + '/keystone.conf'
# A reader must not lock a writer out. The database remembers it.
sqlite3.connect(directory + '/keystone.db').execute('PRAGMA journal_mode = WAL').close()
for words in (
    ['db_sync'],
    ['fernet_setup', '--keystone-user', 'root', '--keystone-group', 'root'],
    ['bootstrap', '--bootstrap-password', password, '--bootstrap-public-url', url, '--bootstrap-region-id', 'RegionOne'],
):
    child = os.fork()
    if child == 0:
        cli.main(['keystone-manage', '--config-file', settings, *words])
        os._exit(0)
    if os.waitpid(child, 0)[1] != 0:
        sys.exit('keystone-manage %s failed' % words[0])
os._exit(0)
