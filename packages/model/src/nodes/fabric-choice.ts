import { z } from 'zod'
import { endpointIpText } from '../scalars/scalars.ts'

/** Name of a network interface, as the kernel takes it. */
export const interfaceName = z.string().regex(/^[A-Za-z0-9._-]{1,15}$/, 'is not the name of a network interface')

/**
 * Which interface of a node faces clients: the one with this name, or the one in whose network this address of another
 * machine is, where nodes name their interfaces differently.
 */
export const fabricChoice = z
  .strictObject({ interface: interfaceName.optional(), reaches: endpointIpText.optional() })
  .refine(({ interface: name, reaches }) => (name === undefined) !== (reaches === undefined), {
    error: 'must have either interface or reaches',
  })
export type FabricChoice = z.infer<typeof fabricChoice>
