// Package blocks reads windows of images by way of a cache of decoded blocks.
package blocks
