metadata description = 'A network of two subnets with a security group each, or yours.'

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
var appPrefix = cidrSubnet(addressPrefix, quarter, 0)
var endpointPrefix = cidrSubnet(addressPrefix, quarter, 1)
var nothingElse = {
  name: 'nothing-else'
  properties: {
    priority: 4000
    direction: 'Inbound'
    access: 'Deny'
    protocol: '*'
    sourceAddressPrefix: '*'
    sourcePortRange: '*'
    destinationAddressPrefix: '*'
    destinationPortRange: '*'
  }
}

// No caller reaches an instance by this subnet: calls come in by the front end of the platform. What goes out stays open: CycleCloud, Entra ID and the platform are there.
resource appGroup 'Microsoft.Network/networkSecurityGroups@2025-09-01' = if (isNew) {
  name: 'nsg-${name}-app'
  location: location
  tags: tags
  properties: {
    securityRules: [
      {
        name: 'own-subnet'
        properties: {
          priority: 100
          direction: 'Inbound'
          access: 'Allow'
          protocol: '*'
          sourceAddressPrefix: appPrefix
          sourcePortRange: '*'
          destinationAddressPrefix: appPrefix
          destinationPortRange: '*'
        }
      }
      {
        name: 'platform'
        properties: {
          priority: 110
          direction: 'Inbound'
          access: 'Allow'
          protocol: '*'
          sourceAddressPrefix: 'AzureLoadBalancer'
          sourcePortRange: '*'
          destinationAddressPrefix: '*'
          destinationPortRange: '*'
        }
      }
      nothingElse
    ]
  }
}

// Any source: only this network and those that are peered with it have a way to a private address, and Flex Consumption was seen to call
// from addresses of its own (azure-functions-host#10620).
resource endpointGroup 'Microsoft.Network/networkSecurityGroups@2025-09-01' = if (isNew) {
  name: 'nsg-${name}-endpoints'
  location: location
  tags: tags
  properties: {
    securityRules: [
      {
        name: 'https'
        properties: {
          priority: 100
          direction: 'Inbound'
          access: 'Allow'
          protocol: 'Tcp'
          sourceAddressPrefix: '*'
          sourcePortRange: '*'
          destinationAddressPrefix: endpointPrefix
          destinationPortRange: '443'
        }
      }
      nothingElse
    ]
  }
}

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
          addressPrefix: appPrefix
          networkSecurityGroup: { id: appGroup.id }
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
          addressPrefix: endpointPrefix
          networkSecurityGroup: { id: endpointGroup.id }
          // With Disabled the group does not hold for private endpoints.
          privateEndpointNetworkPolicies: 'NetworkSecurityGroupEnabled'
        }
      }
    ]
  }
}

// The app looks names up in its own network. A subnet's id begins with the id of its network: nine parts, the first of them empty.
output appNetworkId string = isNew ? network.id : join(take(split(appSubnetId, '/'), 9), '/')
output appSubnetId string = isNew ? '${network.id}/subnets/app' : appSubnetId
output endpointSubnetId string = isNew ? '${network.id}/subnets/endpoints' : endpointSubnetId
