import path from 'node:path'
import { requiredVersion, testbedModule } from '../kubernetes/build.ts'
import { type EnsureOptions, ensureGoBuild } from '../kubernetes/go-build.ts'

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

/** Builds cloud-provider-openstack's controller manager, as it is, if it is missing. @returns its path */
export async function ensureCloudProviderOpenstack(options?: EnsureOptions): Promise<string> {
  const { sources, cache } = testbedModule('cloud-provider-openstack')
  const version = requiredVersion(sources, 'k8s.io/cloud-provider-openstack')
  const build = {
    sources,
    cache,
    packages: ['tool'],
    linkerFlags: [],
    announcement: `Building cloud-provider-openstack ${version} from its Go module: about two minutes the first time.`,
  }
  return path.join(await ensureGoBuild(build, options), 'openstack-cloud-controller-manager')
}
