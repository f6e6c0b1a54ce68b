export const ChangesView = ({ id }: { readonly id: string }) => <p>{id}</p>
