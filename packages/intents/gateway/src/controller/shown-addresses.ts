import type { Gateway } from '../objects/gateway.ts'

/** A Gateway with its addresses as other objects show theirs. */
export const withAddresses = ({ metadata, status }: Gateway) => ({
  metadata,
  status: {
    loadBalancer: { ingress: (status?.addresses ?? []).flatMap(({ value }) => (value ? [{ ip: value }] : [])) },
  },
})
