import type { AddressPoolSpec } from '@spout/custom-resources'
import { addressPool, parseAs } from '@spout/model'
import { cidrToRange, formatIp, parseCidr, parseIpRange, rangeSize } from '@spout/net'
import type { Clock } from '@spout/runtime'
import type { AddressCounts } from '../spout/address-counts.ts'
import type { ApiObject, NativeObjects } from '../spout/native-objects.ts'
import type { DocumentKind } from './document-handler.ts'
import type { Brought } from './handler.ts'

type Range = { readonly first: string; readonly last: string }
const FIELDS = addressPool.pick({ cidr: true, ranges: true, gatewayIp: true, quarantineSeconds: true, draining: true })
const FIELD_NAMES = { cidr: 'subnet', ranges: 'addresses', gatewayIp: 'gateway', projectIds: 'projects' }

const DRAINING = 'It gives no new addresses; those in use stay.'

/** How many load balancers a refusal names when a pool cannot be deleted. */
const MOST_NAMED = 3

export const addressPoolKind = (
  api: NativeObjects,
  counts: AddressCounts,
  clock: Clock,
): DocumentKind<AddressPoolSpec> => ({
  kind: 'AddressPool',
  path: '/address-pools',
  what: 'address pool',
  changeable: ['draining'],
  whileLeaving: { draining: true },
  fieldNames: FIELD_NAMES,
  wanted: wantedPool,
  facts: async (document) => factsOf(document, counts.of(document.id, clock.now().getTime())),
  usersOf: async ({ id }) => {
    const owners = counts.ownersOf(id, MOST_NAMED + 1)
    const named = owners.slice(0, MOST_NAMED).map((owner) => nameOf(api, owner))
    return owners.length === 0
      ? null
      : `load balancers ${(await Promise.all(named)).join(', ')}${owners.length > MOST_NAMED ? ' and others' : ''}. ${DRAINING}`
  },
})

const nameOf = async (api: NativeObjects, id: string): Promise<string> =>
  (await api.call<ApiObject>('GET', `/load-balancers/${id}`).catch(() => null))?.name || id

/** @throws SpoutError, Refused */
async function wantedPool(spec: AddressPoolSpec, api: NativeObjects): Promise<Readonly<Record<string, unknown>>> {
  const { subnet: cidr, addresses, gateway, projects, quarantineSeconds = 300, draining = false } = spec
  const ranges = addresses.map(rangeOf)
  const projectIds = projects && (await projectsByName(projects, api))
  return {
    ...parseAs(FIELDS, { cidr, ranges, gatewayIp: gateway ?? null, quarantineSeconds, draining }),
    projectIds: projectIds ?? null,
  }
}

const projectsByName = (names: readonly string[], api: NativeObjects): Promise<readonly string[]> =>
  Promise.all(names.map((name, index) => api.idOf('/projects', 'project', name, `projects[${index}]`)))

export function rangeOf({ cidr, first, last }: AddressPoolSpec['addresses'][number]): Range {
  if (cidr === undefined) return { first: first ?? '', last: last ?? '' }
  const { version, first: from, last: to } = cidrToRange(parseCidr(cidr))
  return { first: formatIp({ version, value: from }), last: formatIp({ version, value: to }) }
}

function factsOf(document: ApiObject, { used, resting }: { readonly used: number; readonly resting: number }): Brought {
  const size = (document['ranges'] as readonly Range[]).reduce(
    (sum, { first, last }) => sum + rangeSize(parseIpRange(`${first}-${last}`)),
    0n,
  )
  const most = BigInt(Number.MAX_SAFE_INTEGER)
  const total = Number(size > most ? most : size)
  const free = Math.max(0, total - used - resting)
  const told = `${free} of ${total} addresses are free${resting === 0 ? '' : `, ${resting} rest`}.`
  return {
    fields: { addresses: { total, used, resting, free } },
    conditions: [
      free === 0
        ? { type: 'Exhausted', status: 'True', reason: 'NoAddressFree', message: told }
        : // Counts have fields of their own: in a condition, every address would cause a write.
          { type: 'Exhausted', status: 'False', reason: 'AddressesFree', message: 'There are free addresses.' },
      document['draining'] === true
        ? { type: 'Draining', status: 'True', reason: 'Draining', message: DRAINING }
        : { type: 'Draining', status: 'False', reason: 'GivesAddresses', message: 'It gives new addresses.' },
    ],
  }
}
