import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import {
  Caller,
  callApi,
  ensureOpenTofu,
  issueCertificate,
  LONG_TESTS,
  LONGEST_BUILD_MS,
  run,
  type Tenant,
  TestSystem,
  waitFor,
} from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openstackEnv } from '../tools/dev/env.ts'
import { ACME, tally } from './fixtures.ts'

// Terraform's unmodified provider for OpenStack, run by OpenTofu. The two take minutes to build.

const CONFIGURATION = path.resolve(import.meta.dirname, '../testbed/opentofu/shop.tf')
const TIMEOUT_MS = 120_000

interface Shop {
  readonly members: readonly string[]
  readonly description: string
}

const BEFORE: Shop = { members: ['10.0.0.11', '10.0.0.12'], description: 'two members' }
const AFTER: Shop = { members: ['10.0.0.11'], description: 'one member' }

describe.runIf(LONG_TESTS)('Terraform', () => {
  let system: TestSystem
  let acme: Tenant
  let client: Caller
  let certificate: string
  let tofu: (command: readonly string[]) => Promise<{ readonly code: number; readonly stdout: string }>

  beforeAll(async () => {
    const programs = await ensureOpenTofu()
    system = await TestSystem.start({ tenants: [ACME] })
    acme = system.tenants[0] as Tenant
    client = await Caller.start(system.lab, 'client')
    const { certificate: chain, key } = issueCertificate({ names: ['shop.example.com'] })
    const stored = callApi<{ id: string }>(system.access.endpoint, acme.token, 'POST', '/certificates', {
      ...{ name: 'shop', chain, key },
    })
    certificate = (await stored).id
    const directory = path.join(system.lab.directory, 'terraform')
    mkdirSync(directory)
    copyFileSync(CONFIGURATION, path.join(directory, 'shop.tf'))
    const settings = path.join(directory, 'tofu.rc')
    const override = `dev_overrides {\n "terraform-provider-openstack/openstack" = "${programs}"\n }`
    writeFileSync(settings, `provider_installation {\n ${override}\n direct {}\n}\n`)
    const env = { ...openstackEnv(system.access.endpoint, acme), TF_CLI_CONFIG_FILE: settings }
    tofu = (command) =>
      run([path.join(programs, 'tofu'), `-chdir=${directory}`, ...command, '-no-color'], {
        env,
        timeoutMs: TIMEOUT_MS,
      })
  }, LONGEST_BUILD_MS)

  afterAll(async () => {
    await client?.[Symbol.asyncDispose]()
    await system?.destroy()
  })

  const variablesOf = ({ members, description }: Shop): readonly string[] =>
    Object.entries({ members: JSON.stringify(members), description, subnet: acme.subnetId, certificate }).map(
      ([name, value]) => `-var=${name}=${value}`,
    )

  const apply = async (shop: Shop): Promise<void> => {
    expect(await tofu(['apply', '-auto-approve', ...variablesOf(shop)])).toMatchObject({ code: 0 })
    await expectNoChange(shop)
  }

  /** What the API answers is what the configuration says. */
  const expectNoChange = async (shop: Shop): Promise<void> => {
    expect(await tofu(['plan', '-detailed-exitcode', ...variablesOf(shop)])).toMatchObject({ code: 0 })
  }

  const output = async (name: string): Promise<string> => (await tofu(['output', '-raw', name])).stdout.trim()

  const served = async (members: readonly string[]): Promise<void> => {
    const address = await output('address')
    await waitFor(
      async () => {
        const answers = await client.members(address, 8, { timeoutMs: 500 })
        return [...tally(answers.map((one) => one?.member ?? '-')).keys()].sort().join() === members.join()
      },
      { what: `${members.join(' and ')} to answer at ${address}` },
    )
  }

  it('makes a shop that carries traffic', async () => {
    await apply(BEFORE)
    await served(['tenant-a-member1', 'tenant-a-member2'])
  })

  it('changes it', async () => {
    await apply(AFTER)
    await served(['tenant-a-member1'])
  })

  it('takes over a load balancer that it did not make', async () => {
    const resource = 'openstack_lb_loadbalancer_v2.shop'
    const id = await output('load_balancer')
    expect(await tofu(['state', 'rm', resource])).toMatchObject({ code: 0 })
    expect(await tofu(['import', ...variablesOf(AFTER), resource, id])).toMatchObject({ code: 0 })
    await expectNoChange(AFTER)
  })

  it('destroys it', async () => {
    expect(await tofu(['destroy', '-auto-approve', ...variablesOf(AFTER)])).toMatchObject({ code: 0 })
    expect(await system.api(acme, 'GET', '/load-balancers')).toMatchObject({ items: [] })
  })
})
