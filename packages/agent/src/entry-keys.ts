/** The key of the node's part in its group. */
export const GROUP = 'group'

export const isLoadBalancer = (key: string): boolean => key.startsWith('lb/')
export const isDomain = (key: string): boolean => !isLoadBalancer(key) && key !== GROUP

export const domainKey = (number: number): string => `domain/${number}`
export const domainNumber = (key: string): number => Number(key.slice('domain/'.length))
