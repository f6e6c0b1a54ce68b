import path from 'node:path'
import { requiredVersion, testbedModule } from './build.ts'
import { type EnsureOptions, ensureGoBuild } from './go-build.ts'

/** Builds Helm, as it is, if it is missing. @returns the path of its program. @see ensureGoBuild */
export async function ensureHelm(options?: EnsureOptions): Promise<string> {
  const { sources, cache } = testbedModule('helm')
  const version = requiredVersion(sources, 'helm.sh/helm/v3')
  const build = {
    sources,
    cache,
    packages: ['tool'],
    // Helm's own release builds set it; charts read it as `.Capabilities.HelmVersion`.
    linkerFlags: [`-X helm.sh/helm/v3/internal/version.version=${version}`],
    announcement: `Building Helm ${version} from its Go module: about two minutes the first time, five of processor time.`,
  }
  return path.join(await ensureGoBuild(build, options), 'helm')
}
