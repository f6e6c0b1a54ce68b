import type { DebianPackage } from './package-table.ts'

/** What is the same for all packages of one build. */
export interface Build {
  /** In Debian's form. */
  readonly version: string
  /** Debian's word for the processor, such as `amd64`. */
  readonly architecture: string
}

/** The control file of a package (deb-control(5)). `kibibytes` is what it takes when installed. */
export function controlFile(
  { name, summary, description, needs, needsRuntime }: DebianPackage,
  { version, architecture }: Build,
  kibibytes: number,
): string {
  const depends = [...(needsRuntime ? [`spout (= ${version})`] : []), ...needs]
  return `Package: ${name}
Version: ${version}
Architecture: ${architecture}
Maintainer: Spout <maintainers@spout.invalid>
Installed-Size: ${kibibytes}
Depends: ${depends.join(', ')}
Section: net
Priority: optional
Description: ${summary}
${description.map((line) => ` ${line}`).join('\n')}
`
}

/** A conffile keeps an administrator's changes when the package is upgraded. */
export const conffiles = ({ service }: DebianPackage): string => (service ? `/etc/spout/${service.settings}\n` : '')
