import { expect, test } from 'vitest'
import { amphoraResource } from './resources/amphora.ts'
import { monitorResource } from './resources/health-monitor.ts'
import { policyResource } from './resources/l7policy.ts'
import { ruleResource } from './resources/l7rule.ts'
import { listenerResource } from './resources/listener.ts'
import { loadBalancerResource } from './resources/load-balancer.ts'
import { memberResource } from './resources/member.ts'
import { flavorProfileResource, flavorResource, zoneProfileResource, zoneResource } from './resources/offers.ts'
import { poolResource } from './resources/pool.ts'
import { quotaResource } from './resources/quota.ts'
import type { Resource } from './resources/resource.ts'

const yes = (is: boolean): string => (is ? 'yes' : '')

const REFUSED = 'not offered'

/** The table of a resource as Markdown. */
const described = <D, R>({ word, plural, fields }: Resource<D, R>): string => {
  const rows = [...fields].map(
    ({ name, since, create, update, read, resting }) =>
      `| \`${name}\` | 2.${since} | ${resting ? REFUSED : create === 'refused' ? '' : create} | ${update && resting ? REFUSED : yes(update)} | ${yes(read !== null)} |`,
  )
  return [
    `## ${word} (\`${plural}\`)`,
    '',
    '| attribute | since | create | update | shown |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}

test('ATTRIBUTES.md agrees with the tables', async () => {
  const page = [
    '# Attributes of the Octavia v2 API\n\nWritten by `attributes.test.ts` from the tables in `src/resources`; `README.md` says what is refused and how.\nWhere it says `not offered`, only the value that means "not used" (null, empty, `NONE`, `false`) is accepted.\n',
    described(loadBalancerResource),
    described(listenerResource),
    described(poolResource),
    described(memberResource),
    described(monitorResource),
    described(policyResource),
    described(ruleResource),
    described(quotaResource),
    described(flavorResource),
    described(flavorProfileResource),
    described(zoneResource),
    described(zoneProfileResource),
    described(amphoraResource),
  ].join('\n')
  await expect(page).toMatchFileSnapshot(new URL('../ATTRIBUTES.md', import.meta.url).pathname)
})

test('no table has two rows of one name', () => {
  const tables: readonly (readonly string[])[] = [
    loadBalancerResource,
    listenerResource,
    poolResource,
    memberResource,
    monitorResource,
    policyResource,
    ruleResource,
    quotaResource,
    flavorResource,
    flavorProfileResource,
    zoneResource,
    zoneProfileResource,
    amphoraResource,
  ].map(({ fields }) => [...fields].map(({ name }) => name))
  for (const names of tables) expect(names).toEqual([...new Set(names)])
})
