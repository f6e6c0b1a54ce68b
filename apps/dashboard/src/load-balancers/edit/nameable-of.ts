import type { Network } from '@spout/model'
import type { ShownCertificate } from '../../api/certificates.ts'
import type { Nameable, Named } from '../completion/nameable.ts'
import type { DocumentPool } from './document-pools.ts'

type NamedCertificate = Pick<ShownCertificate, 'id' | 'name' | 'names' | 'use'>
type NamedNetwork = Pick<Network, 'id' | 'name'> & {
  readonly subnets: readonly Pick<Network['subnets'][number], 'id' | 'name' | 'cidr'>[]
}

/** What the fields of a document can name: its own pools, and what its project has. */
export function nameableOf(
  pools: readonly DocumentPool[],
  certificates: readonly NamedCertificate[],
  networks: readonly NamedNetwork[],
): Nameable {
  const usedAs = (wanted: ShownCertificate['use']): readonly Named[] =>
    certificates
      .filter(({ use }) => use === wanted)
      .map(({ id, name, names }) => ({ id, name, note: names.join(', ') }))
  return {
    pool: pools.map(({ id, name, protocol }) => ({ id, name, note: protocol })),
    subnet: networks.flatMap((network) =>
      network.subnets.map(({ id, name, cidr }) => ({
        id,
        name: name || network.name,
        note: name === '' ? cidr : `${cidr} of ${network.name || network.id}`,
      })),
    ),
    keyed: usedAs('keyed'),
    authorities: usedAs('authorities'),
    revocations: usedAs('revocations'),
    users: usedAs('users'),
  }
}
