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

/** Paths of two programs of cloud-provider-openstack, as they are. */
export interface CloudProviderOpenstack {
  /** Makes load balancers for Services. */
  readonly controllerManager: string
  /** Makes load balancers for Ingresses. */
  readonly ingressController: string
}

/** Builds the programs if they are missing. */
export async function ensureCloudProviderOpenstack(options?: EnsureOptions): Promise<CloudProviderOpenstack> {
  const { sources, cache } = testbedModule('cloud-provider-openstack')
  const version = requiredVersion(sources, 'k8s.io/cloud-provider-openstack')
  const build = {
    sources,
    cache,
    packages: ['tool'],
    linkerFlags: [],
    announcement: `Building cloud-provider-openstack ${version} from its Go module: about two minutes the first time.`,
  }
  const directory = await ensureGoBuild(build, options)
  return {
    controllerManager: path.join(directory, 'openstack-cloud-controller-manager'),
    ingressController: path.join(directory, 'octavia-ingress-controller'),
  }
}

/** Builds OpenTofu and Terraform's provider for OpenStack if they are missing. @returns the directory of both programs */
export async function ensureOpenTofu(): Promise<string> {
  const { sources, cache } = testbedModule('opentofu')
  const provider = 'github.com/terraform-provider-openstack/terraform-provider-openstack/v3'
  const versions = ['github.com/opentofu/opentofu', provider].map((module) => requiredVersion(sources, module))
  return ensureGoBuild({
    sources,
    cache,
    packages: ['tool'],
    linkerFlags: [],
    announcement: `Building OpenTofu ${versions[0]} and the provider for OpenStack ${versions[1]} from their Go modules: about four minutes the first time.`,
  })
}
