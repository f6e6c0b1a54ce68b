import type { Gateway } from '../objects/gateway.ts'

/** A Gateway with its addresses where Services and Ingresses have theirs, for code that takes objects of all kinds. */
export const withAddresses = ({ metadata, status }: Gateway) => ({
  metadata,
  status: {
    loadBalancer: { ingress: (status?.addresses ?? []).flatMap(({ value }) => (value ? [{ ip: value }] : [])) },
  },
})
