export const TextView = ({ id }: { readonly id: string }) => <p>{id}</p>
