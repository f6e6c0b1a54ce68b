import { existsSync } from 'node:fs'
import { must } from '@spout/testkit'
import { IMAGE } from './image/description.ts'

/** Where Debian 12 says what its archives are. */
const SOURCES = ['/etc/apt/sources.list.d/debian.sources', '/etc/apt/sources.list']

export interface TreeOptions {
  /** `essential` has no package manager, `apt` has. */
  readonly variant: 'essential' | 'apt'
  readonly packages: readonly string[]
  /** Time of the newest file. */
  readonly epochSeconds: number
  /** More words for mmdebstrap(1). */
  readonly more?: readonly string[]
}

/**
 * Makes a tree of Debian 12 with packages, without recommended ones, from the archives that this machine uses.
 * @param target a directory, or a file that ends in `.tar`
 */
export async function debianTree(target: string, { variant, packages, epochSeconds, more = [] }: TreeOptions) {
  const sources = SOURCES.filter((file) => existsSync(file)).slice(0, 1)
  const argv = [
    ...['mmdebstrap', '--quiet', '--mode=root', `--variant=${variant}`, `--include=${packages.join()}`],
    // Of an archive that is a copy, the date is not checked: the machine's own settings for it are below /etc/apt.
    ...['Acquire::Check-Valid-Until "false"', 'Acquire::Check-Date "false"'].map((one) => `--aptopt=${one}`),
    ...more,
    ...[IMAGE.suite, target, ...sources],
  ]
  await must(argv, { timeoutMs: 900_000, env: { SOURCE_DATE_EPOCH: String(epochSeconds), TZ: 'UTC' } })
}
