import type { DebianPackage, ServiceFiles } from './package-table.ts'

/**
 * Scripts of a package with a unit (deb-postinst(5) and its like), by their names. Nothing is enabled: neither service runs
 * without settings. What an administrator enabled is remembered while the package is removed, and forgotten when it is
 * purged, by the tool that Debian's own packages use. There is no user to make: the control plane's is made by its unit
 * (`DynamicUser`), proxies have numbers.
 */
export function maintainerScripts({ service }: DebianPackage): ReadonlyMap<string, string> {
  if (service === null) return new Map()
  return new Map([
    ['postinst', postinst(service)],
    ['prerm', prerm(service)],
    ['postrm', postrm(service)],
  ])
}

const script = (body: string): string => `#!/bin/sh\nset -e\n${body}`
/** Only a machine that was started by systemd has this directory; an image has not. */
const ifRunning = (commands: string): string => `if [ -d /run/systemd/system ]; then
${commands}
fi
`

/** An upgrade restarts what runs. A new agent takes over the daemons of the old one, so traffic goes on. */
const postinst = ({ unit }: ServiceFiles): string =>
  script(`case $1 in configure | abort-upgrade | abort-deconfigure | abort-remove) ;; *) exit 0 ;; esac
if [ -x /usr/bin/deb-systemd-helper ]; then
  deb-systemd-helper unmask '${unit}' >/dev/null || true
  deb-systemd-helper update-state '${unit}' >/dev/null || true
fi
${ifRunning(`  systemctl --system daemon-reload >/dev/null || true
  if [ -n "$2" ]; then systemctl try-restart '${unit}' || true; fi`)}`)

const prerm = ({ unit, hasDaemons }: ServiceFiles): string =>
  script(`[ "$1" = remove ] || exit 0
${ifRunning(
  [
    `  systemctl stop '${unit}' || true`,
    // Nobody would manage them any more: other nodes shall take over this one's addresses.
    ...(hasDaemons ? [`  systemctl kill --kill-whom=all '${unit}' 2>/dev/null || true`] : []),
  ].join('\n'),
)}`)

const postrm = ({ unit, purged }: ServiceFiles): string =>
  script(`${ifRunning('  systemctl --system daemon-reload >/dev/null || true')}[ "$1" = purge ] || exit 0
if [ -x /usr/bin/deb-systemd-helper ]; then
  deb-systemd-helper purge '${unit}' >/dev/null || true
fi
# One file system each: what is mounted there is not the package's.
rm -rf --one-file-system ${purged.join(' ')}
rmdir --ignore-fail-on-non-empty /etc/spout 2>/dev/null || true
`)
