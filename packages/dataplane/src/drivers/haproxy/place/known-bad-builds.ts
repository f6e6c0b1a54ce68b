import { execOk } from '@spout/sys'

/** Versions with request smuggling bugs: [from, fixed in), upstream's numbers. */
interface Hole {
  readonly name: string
  readonly ranges: readonly (readonly [from: string, fixedIn: string])[]
  /** Debian's builds with the fix under an older number: version, and the first security revision with the fix. */
  readonly backports: readonly { readonly upstream: string; readonly revision: number }[]
}

/** HTTP/1 only, which proxies here use. Sources: the CVE records and the changelog of Debian's package. */
const HOLES: readonly Hole[] = [
  {
    name: 'CVE-2021-40346',
    ranges: [
      ['2.0.0', '2.0.25'],
      ['2.1.0', '2.2.17'],
      ['2.3.0', '2.3.14'],
      ['2.4.0', '2.4.4'],
    ],
    backports: [],
  },
  {
    name: 'CVE-2023-25725',
    ranges: [
      ['0.0.0', '2.0.31'],
      ['2.1.0', '2.2.29'],
      ['2.3.0', '2.4.22'],
      ['2.5.0', '2.5.12'],
      ['2.6.0', '2.6.9'],
      ['2.7.0', '2.7.3'],
    ],
    backports: [],
  },
  {
    name: 'CVE-2023-40225',
    ranges: [
      ['0.0.0', '2.0.33'],
      ['2.1.0', '2.2.31'],
      ['2.3.0', '2.4.24'],
      ['2.5.0', '2.6.15'],
      ['2.7.0', '2.7.10'],
      ['2.8.0', '2.8.2'],
    ],
    backports: [{ upstream: '2.6.12', revision: 1 }],
  },
]

/** The oldest version that the tests ran with. */
const OLDEST = '2.6.12'

/**
 * @param version output of `haproxy -v`
 * @returns why this build must not be used, and what to install; null if it may be used, or if the output is not
 * understood
 */
export function refusalOf(version: string): string | null {
  const match = /^HA-?Proxy version (\d+\.\d+\.\d+)(?:-\d+\+deb\d+u(\d+))?(\S*)/m.exec(version)
  const upstream = match?.[1]
  if (upstream === undefined) return null
  const revision = Number(match?.[2] ?? 0)
  const build = `HAProxy ${upstream}${match![0].split(upstream)[1]}`
  const holes = HOLES.filter(({ ranges, backports }) => {
    const isBackported = backports.some((each) => each.upstream === upstream && revision >= each.revision)
    return !isBackported && ranges.some(([from, fixedIn]) => !isBefore(upstream, from) && isBefore(upstream, fixedIn))
  })
  if (holes.length > 0) {
    const names = holes.map(({ name }) => name).join(', ')
    return `${build} lets clients smuggle requests (${names}): install ${OLDEST}-1+deb12u1 of Debian, 2.6.15, 2.8.2 or later`
  }
  return isBefore(upstream, OLDEST) ? `${build} is older than ${OLDEST}: install that or later` : null
}

/**
 * @throws Error naming the build and what to install, if it must not be used. A program that does not run is not
 * judged.
 */
export async function refuseKnownBad(executable: string): Promise<void> {
  const version = await execOk([executable, '-v']).catch(() => '')
  const refusal = refusalOf(version)
  if (refusal !== null) throw new Error(`haproxy.executable ${executable}: ${refusal}`)
}

function isBefore(a: string, b: string): boolean {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number))
  for (let index = 0; index < 3; index++) {
    const difference = left![index]! - right![index]!
    if (difference !== 0) return difference < 0
  }
  return false
}
