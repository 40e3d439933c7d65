metadata description = 'A network of two subnets, or yours.'

@description('Name of the network.')
param name string

@description('Region.')
param location string

@description('Tags.')
param tags object

@description('true: the network is made here.')
param isNew bool

@description('Addresses of the network.')
param addressPrefix string

@description('Id of an existing subnet of the app.')
param appSubnetId string

@description('Id of an existing subnet of the private endpoints.')
param endpointSubnetId string

var quarter = parseCidr(addressPrefix).cidr + 2

resource network 'Microsoft.Network/virtualNetworks@2025-09-01' = if (isNew) {
  name: name
  location: location
  tags: tags
  properties: {
    addressSpace: { addressPrefixes: [addressPrefix] }
    subnets: [
      {
        name: 'app'
        properties: {
          addressPrefix: cidrSubnet(addressPrefix, quarter, 0)
          delegations: [
            {
              name: 'flex-consumption'
              properties: { serviceName: 'Microsoft.App/environments' }
            }
          ]
        }
      }
      {
        name: 'endpoints'
        properties: {
          addressPrefix: cidrSubnet(addressPrefix, quarter, 1)
          privateEndpointNetworkPolicies: 'Disabled'
        }
      }
    ]
  }
}

// The app looks names up in its own network. A subnet's id begins with the id of its network: nine parts, the first of them empty.
output appNetworkId string = isNew ? network.id : join(take(split(appSubnetId, '/'), 9), '/')
output appSubnetId string = isNew ? '${network.id}/subnets/app' : appSubnetId
output endpointSubnetId string = isNew ? '${network.id}/subnets/endpoints' : endpointSubnetId
