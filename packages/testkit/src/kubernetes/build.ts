import { readFileSync } from 'node:fs'
import path from 'node:path'
import { type EnsureOptions, ensureGoBuild, type GoBuild } from './go-build.ts'
import { chosenMinor, MODULE_FILES, USUAL_MINOR } from './minors.ts'

/** Paths of the programs built from the Go module `testbed/kubernetes`. */
export interface KubernetesPrograms {
  /** The first argument is the role: etcd, kube-apiserver, kube-controller-manager, kube-proxy. */
  readonly controlPlane: string
  /** The program in pods. */
  readonly pod: string
  /** Command line prefix of `kubectl`. */
  readonly kubectl: readonly string[]
}

/** Paths of MetalLB's two programs, for comparison in benchmarks. */
export interface MetallbPrograms {
  readonly controller: string
  readonly speaker: string
}

const REPOSITORY = path.resolve(import.meta.dirname, '../../../..')

/** Where a module of `testbed/` is, and where its programs go. */
export const testbedModule = (name: string): Pick<GoBuild, 'sources' | 'cache'> => ({
  sources: path.join(REPOSITORY, 'testbed', name),
  cache: path.join(REPOSITORY, 'build', name),
})

/** The version of a module that a `go.mod` requires, such as `v1.36.1`. */
export function requiredVersion(sources: string, module: string, moduleFile = 'go.mod'): string {
  const found = readFileSync(path.join(sources, moduleFile), 'utf8')
    .split('\n')
    .map((line) =>
      line
        .trim()
        .replace(/^require /, '')
        .split(' '),
    )
    // A tool is named once more, without its version.
    .find(([name, version]) => name === module && version !== undefined)
  if (found?.[1] === undefined) throw new Error(`${sources}/${moduleFile}: ${module} is not required`)
  return found[1]
}

function kubernetesBuild(): GoBuild {
  const chosen = chosenMinor(process.env['SPOUT_KUBERNETES'])
  const { sources } = testbedModule('kubernetes')
  const { cache } = testbedModule(chosen === USUAL_MINOR ? 'kubernetes' : `kubernetes-${chosen}`)
  const moduleFile = MODULE_FILES[chosen]
  const version = requiredVersion(sources, 'k8s.io/kubernetes', moduleFile)
  const [major = '', minor = ''] = version.slice(1).split('.')
  // Clients refuse a server whose version they cannot parse.
  const values = { gitVersion: version, gitMajor: major, gitMinor: minor, gitTreeState: 'clean' }
  return {
    sources,
    moduleFile,
    cache,
    packages: ['./...'],
    linkerFlags: Object.entries(values).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`),
    announcement:
      `Building Kubernetes ${version} (etcd, API server, controller manager, kube-proxy, kubectl) for the tests from its Go modules, ` +
      'because it comes as images of containers and there is no engine for those here. The first time takes about 8 minutes on ' +
      'two cores and 4 GB of disk (Go keeps its own caches), less with warm caches; once built it is used as it is.',
  }
}

function metallbBuild(): GoBuild {
  const { sources, cache } = testbedModule('metallb')
  const version = requiredVersion(sources, 'go.universe.tf/metallb')
  return {
    sources,
    cache,
    packages: ['tool'],
    linkerFlags: [],
    announcement: `Building MetalLB ${version} (controller and speaker), the peer of benchmarks and of the take-over from it, from its Go module: about two minutes the first time.`,
  }
}

function kubernetesIn(directory: string): KubernetesPrograms {
  const controlPlane = path.join(directory, 'control-plane')
  return { controlPlane, pod: path.join(directory, 'pod'), kubectl: [controlPlane, 'kubectl'] }
}

/**
 * Builds the control plane and the pod program if they are missing, of the minor version that the environment variable
 * SPOUT_KUBERNETES asks for. @see ensureGoBuild
 */
export const ensureKubernetes = async (options?: EnsureOptions): Promise<KubernetesPrograms> =>
  kubernetesIn(await ensureGoBuild(kubernetesBuild(), options))

/** Builds MetalLB's controller and speaker if they are missing. @see ensureGoBuild */
export async function ensureMetallb(options?: EnsureOptions): Promise<MetallbPrograms> {
  const directory = await ensureGoBuild(metallbBuild(), options)
  return { controller: path.join(directory, 'controller'), speaker: path.join(directory, 'speaker') }
}
