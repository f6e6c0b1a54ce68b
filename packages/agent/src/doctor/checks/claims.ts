import { type Catalogue, checkOf, type Found } from '@spout/runtime/findings'
import { type ClaimsReading, readClaims } from '../readings/claims.ts'

const FINDINGS = {
  OwnAddressTwice: {
    level: 'error',
    what: 'another machine answers for an address of this node',
    why: 'Neighbours send to one or the other, as chance has it: adverts, BGP sessions and flows break off.',
    fix: 'on that machine: `ip address delete ADDRESS dev INTERFACE`',
  },
  VipTwice: {
    level: 'error',
    what: 'another machine answers for a VIP that this node announces',
    why: 'A part of the clients ends there. If it is another load-balancer node, the two do not hear each other: see check `vrrp`.',
    fix: 'on that machine: `ip address delete ADDRESS dev INTERFACE`',
  },
} as const satisfies Catalogue

export const judgeClaims = ({ addresses }: ClaimsReading): readonly Found<keyof typeof FINDINGS>[] =>
  addresses.flatMap(({ address, isVip, mac }) =>
    mac === null
      ? []
      : [
          {
            code: isVip ? 'VipTwice' : 'OwnAddressTwice',
            subject: address,
            message: `${mac} answers for it, too.`,
            fix: `on the machine with ${mac}: ip address delete ${address}/PREFIX dev INTERFACE`,
          },
        ],
  )

export const claims = checkOf({
  name: 'addresses',
  catalogue: FINDINGS,
  read: readClaims,
  judge: judgeClaims,
  right: ({ addresses, left }) =>
    `Nobody else answers for ${addresses.length} addresses of the fabric${left > 0 ? `; ${left} more were not asked for` : ''}.`,
})
