import type { AddressPool } from '@spout/model'
import { useQuery } from '@tanstack/react-query'
import { readPoolUsage } from '../api/addresses.ts'
import { listAddressPools } from '../api/networks.ts'
import { keys } from '../api/query-keys.ts'

export const useAddressPools = () =>
  useQuery({ queryKey: keys.of('addressPool'), queryFn: ({ signal }) => listAddressPools(signal) })

/** It is read anew when an address changes, or the pool itself. */
export const usePoolUsage = ({ id, ranges, gatewayIp }: AddressPool) =>
  useQuery({
    queryKey: keys.of('address', 'usage', id, JSON.stringify([ranges, gatewayIp])),
    queryFn: ({ signal }) => readPoolUsage(id, signal),
  })
