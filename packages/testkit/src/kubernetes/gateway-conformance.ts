import path from 'node:path'
import { requiredVersion, testbedModule } from './build.ts'
import { type EnsureOptions, ensureGoBuild } from './go-build.ts'
import type { Images } from './kubelet/images.ts'

/** The conformance suite of Gateway API, and what stands for the images of its pods. */
export interface GatewayConformance {
  /** Path of the suite's program; it takes the flags of `go test` and those of the suite. */
  readonly suite: string
  readonly images: Images
  readonly version: string
}

/** Builds the suite and its backends, unmodified, if they are missing. @see ensureGoBuild */
export async function ensureGatewayConformance(options?: EnsureOptions): Promise<GatewayConformance> {
  const { sources, cache } = testbedModule('gateway-conformance')
  const version = requiredVersion(sources, 'sigs.k8s.io/gateway-api/conformance')
  const build = {
    sources,
    cache,
    packages: ['./...', 'tool'],
    linkerFlags: [],
    announcement: `Building the conformance suite of Gateway API ${version} and its backend from their Go modules: about two minutes the first time.`,
  }
  const directory = await ensureGoBuild(build, options)
  const coredns = await ensureCoredns(options)
  return {
    suite: path.join(directory, 'suite'),
    images: {
      'registry.k8s.io/gateway-api/echo-basic': [path.join(directory, 'echo-basic')],
      'registry.k8s.io/coredns/coredns': [coredns],
    },
    version,
  }
}

/** CoreDNS answers the suite's datagrams. @returns the path of its program */
async function ensureCoredns(options?: EnsureOptions): Promise<string> {
  const { sources, cache } = testbedModule('coredns')
  const version = requiredVersion(sources, 'github.com/coredns/coredns')
  const build = {
    sources,
    cache,
    packages: ['./...'],
    linkerFlags: [],
    announcement: `Building CoreDNS ${version} with four plugins from its Go module: about a minute the first time.`,
  }
  return path.join(await ensureGoBuild(build, options), 'coredns')
}
