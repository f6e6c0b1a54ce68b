import { unpackedPackages } from './debian-packages.ts'

const PACKAGES = ['octavia-api', 'mariadb-server', 'uwsgi-core', 'uwsgi-plugin-python3']

/** Debian's octavia-api with MariaDB and uWSGI. The first call downloads 48 MB of packages and takes half a minute. */
export const octaviaPackages = (): Promise<string> => unpackedPackages('octavia', PACKAGES)
