import path from 'node:path'
import { requiredVersion, testbedModule } from '../kubernetes/build.ts'
import { ensureGoBuild } from '../kubernetes/go-build.ts'

/** Builds the program on gophercloud if it is missing. @returns its path */
export async function ensureGophercloud(): Promise<string> {
  const { sources, cache } = testbedModule('gophercloud')
  const version = requiredVersion(sources, 'github.com/gophercloud/gophercloud/v2')
  const directory = await ensureGoBuild({
    sources,
    cache,
    packages: ['./...'],
    linkerFlags: [],
    announcement: `Building a program on gophercloud ${version} from its Go module: half a minute the first time.`,
  })
  return path.join(directory, 'gophercloud')
}
