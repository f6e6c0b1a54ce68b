import { hasKubectl, kubectlDirectory } from './kubernetes/kubectl.ts'
import { requireUp } from './state.ts'
import { UsageError, type Verb } from './verb.ts'

const quote = (value: string): string => `'${value.replaceAll("'", `'\\''`)}'`

/** `./dev env [--admin]` */
export const env: Verb = {
  name: 'env',
  usage: '[--admin]',
  summary: 'prints export lines: OS_*, SPOUT_* and KUBECONFIG for the demo project or the administrator',
  details: `Example: eval "$(./dev env)"; openstack loadbalancer list
From then on ./dev spout uses this account too; eval "$(./dev env --admin)" or unset SPOUT_TOKEN ends that.
KUBECONFIG is the cluster's administrator, after ./dev up --kubernetes; if the machine has no kubectl, PATH gets the lab's.`,
  async run(args) {
    const unknown = args.find((arg) => arg !== '--admin')
    if (unknown) throw new UsageError(`there is no option ${unknown}`)
    const {
      state: { access },
      lab,
      cluster,
    } = requireUp()
    const account = args.includes('--admin') ? access.admin : (access.projects[0] ?? access.admin)
    const variables = {
      ...openstackEnv(access.endpoint, account),
      SPOUT_ENDPOINT: access.endpoint,
      SPOUT_TOKEN: account.token,
      ...(cluster === null ? {} : { KUBECONFIG: cluster.kubeconfigFile }),
    }
    const lines = Object.entries(variables).map(([name, value]) => `export ${name}=${quote(value)}\n`)
    if (cluster !== null && !hasKubectl(process.env['PATH'] ?? ''))
      lines.push(`export PATH=${quote(kubectlDirectory(lab))}:"$PATH"\n`)
    process.stdout.write(lines.join(''))
    return 0
  },
}

/** Environment of an OpenStack client for an account. */
export const openstackEnv = (
  endpoint: string,
  account: { readonly user: string; readonly password: string; readonly project: string },
): Readonly<Record<string, string>> => ({
  OS_AUTH_URL: `${endpoint}/identity/v3`,
  OS_IDENTITY_API_VERSION: '3',
  OS_USERNAME: account.user,
  OS_PASSWORD: account.password,
  OS_PROJECT_NAME: account.project,
  OS_USER_DOMAIN_NAME: 'Default',
  OS_PROJECT_DOMAIN_NAME: 'Default',
  OS_REGION_NAME: 'RegionOne',
})
