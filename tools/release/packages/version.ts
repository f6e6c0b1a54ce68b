/** Major, minor and patch, as npm has them; what is not released yet may have a suffix such as `-rc.1`. */
const VERSION = /^(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.]+))?$/

export const isVersion = (text: string): boolean => VERSION.test(text)

/** A released version in Debian's form, where `~` sorts before everything: `1.2.0-rc.1` is older than `1.2.0`. */
export const debianVersion = (version: string): string => version.replace('-', '~')

/** The version of a commit that is no release: older than that release, newer than earlier commits. */
export function commitVersion(
  version: string,
  { commit, committedAt }: { commit: string; committedAt: string },
): string {
  const time = new Date(committedAt).toISOString().replaceAll(/\D/g, '').slice(0, 14)
  return `${debianVersion(version)}~${time}.${commit.slice(0, 8)}`
}
