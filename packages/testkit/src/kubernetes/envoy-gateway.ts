import path from 'node:path'
import { requiredVersion, testbedModule } from './build.ts'
import { type EnsureOptions, ensureGoBuild } from './go-build.ts'
import { moduleFolder } from './go-module.ts'

/** Envoy Gateway, for comparison in benchmarks. It needs an Envoy beside it. */
export interface EnvoyGateway {
  readonly program: string
  /** Folder with the definitions of its own kinds. */
  readonly definitions: string
  readonly version: string
}

const MODULE = 'github.com/envoyproxy/gateway'

/** Builds Envoy Gateway from its Go module if it is missing. @see ensureGoBuild */
export async function ensureEnvoyGateway(options?: EnsureOptions): Promise<EnvoyGateway> {
  const { sources, cache } = testbedModule('envoy-gateway')
  const version = requiredVersion(sources, MODULE)
  const directory = await ensureGoBuild(
    {
      sources,
      cache,
      packages: ['tool'],
      linkerFlags: [],
      announcement: `Building Envoy Gateway ${version}, the peer of benchmarks, from its Go module: about twelve minutes the first time.`,
    },
    options,
  )
  return {
    program: path.join(directory, 'envoy-gateway'),
    definitions: await moduleFolder(MODULE, version, 'charts/gateway-helm/charts/crds/crds/generated'),
    version,
  }
}
