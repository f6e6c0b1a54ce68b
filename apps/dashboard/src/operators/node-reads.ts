import { useQuery } from '@tanstack/react-query'
import { listBgpPeers, listNodeGroups, listNodes } from '../api/nodes.ts'
import { keys } from '../api/query-keys.ts'
import { useTopics } from '../live/live-context.ts'

/** All nodes, live. */
export function useNodes() {
  useTopics('nodes')
  return useQuery({ queryKey: keys.of('node'), queryFn: ({ signal }) => listNodes(signal) })
}

export const useNodeGroups = () =>
  useQuery({ queryKey: keys.of('nodeGroup'), queryFn: ({ signal }) => listNodeGroups(signal) })

export const useBgpPeers = () =>
  useQuery({ queryKey: keys.of('bgpPeer'), queryFn: ({ signal }) => listBgpPeers(signal) })
