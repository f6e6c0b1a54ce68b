import { useQuery } from '@tanstack/react-query'
import { listAddresses } from '../api/addresses.ts'
import { listAddressPools } from '../api/networks.ts'
import { listProjects } from '../api/projects.ts'
import { keys } from '../api/query-keys.ts'

export const useAddressPools = () =>
  useQuery({ queryKey: keys.of('addressPool'), queryFn: ({ signal }) => listAddressPools(signal) })

export const useAddresses = () =>
  useQuery({ queryKey: keys.of('address'), queryFn: ({ signal }) => listAddresses(signal) })

export const useProjects = () =>
  useQuery({ queryKey: keys.of('project'), queryFn: ({ signal }) => listProjects(signal) })
